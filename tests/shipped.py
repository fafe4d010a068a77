"""What every process of the product reads of its own package: once, in a process that others are forked from."""

import inspect
import re
import sys

from agentforge.catalog.extends import KINDS
from agentforge.catalog.load import Catalog
from agentforge.system.secrets import redact

_OF_POLICIES = tuple(f"agentforge.{name}." for name in ("catalog", "commands", "context", "gates", "tools"))
"""What they read once for each process are files of the package."""


def read_what_is_shipped() -> None:
    """The catalogue, the policies and the patterns of secrets: the same for every command of this program."""
    catalog = Catalog.packaged()
    for kind in KINDS:
        for name in catalog.names(kind):
            catalog.document(kind, name)
    for name, module in list(sys.modules.items()):
        if name.startswith(_OF_POLICIES):
            readers = [
                each
                for each in vars(module).values()
                if hasattr(each, "cache_info") and each.__module__ == name
            ]
            for reader in readers:
                if not inspect.signature(reader).parameters:
                    reader()
    for rule in redact._RULES:
        re.compile(rule.pattern)
    for shapes in redact._LONG_WORD:
        re.compile(shapes)

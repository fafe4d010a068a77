"""The environment of a Python project: a virtual environment, made by uv from the package indexes of the
caller.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from agentforge.languages.environments import build_environment
from agentforge.languages.python.additions import add_pinned, additions_of
from agentforge.languages.python.detect import INSTALL
from agentforge.languages.python.indexes import (
    FIRST_INDEX,
    default_places,
    index_places,
    index_variables,
    named_paths,
    passwords_in,
    without_passwords,
)
from agentforge.languages.python.interpreter import Interpreter, find_interpreter, find_uv
from agentforge.languages.set_up import Makings
from agentforge.languages.toolchains import find_toolchains, with_toolchains
from agentforge.languages.values import Environment, Plan
from agentforge.sandbox.base import Sandbox
from agentforge.sandbox.network.destinations import Destination

_NOWHERE = "/nonexistent/agentforge"
"""Where no compiled code is."""


def build(  # noqa: PLR0913 - every one of them is the caller's business
    plan: Plan,
    tree_checkout: Callable[[Path], None],
    cache_root: Path,
    sandbox: Sandbox,
    *,
    version: str | None = None,
    lock_text_hash: str,
    allow: Sequence[Destination] = (),
    index_passwords: bool = False,
) -> Environment:
    """The environment for `plan`, from the cache or made now. Set-up may reach the package indexes of the
    caller, and the places of `allow`; it is told the passwords of indexes only if the user said so.
    """
    interpreter = find_interpreter(plan.version, sandbox)
    told = (version or plan.version_without_tags or "0.0.0") if plan.version_from_tags else None
    makings = _makings(plan, interpreter, told, index_passwords=index_passwords)
    return build_environment(
        plan, makings, tree_checkout, cache_root, sandbox, lock_text_hash=lock_text_hash, allow=allow
    )


def _makings(plan: Plan, interpreter: Interpreter, told: str | None, *, index_passwords: bool) -> Makings:
    uv, passed = find_uv(), index_variables(os.environ)
    kept = passwords_in(passed) if not index_passwords else ()
    passed = passed if index_passwords else without_passwords(passed)
    return Makings(
        prefix=interpreter.prefix,
        program="bin/python",
        identity=(told, interpreter.version, str(interpreter.executable), *additions_of(plan)),
        values={"uv": str(uv), "python": str(interpreter.executable)},
        variables=passed | _setup_variables(uv) | _version_variables(told),
        read=(uv, *named_paths(passed)),
        network=_places(passed, uv, interpreter),
        kept=tuple(kept),
        chains=find_toolchains(plan.toolchains, os.environ, Path.home()),
        requirement_at=len(INSTALL),
        add=add_pinned,
    )


def run_env(environment: Environment, tree: Path) -> dict[str, str]:
    """The variables of a test run against `tree`: its modules come before those of the checkout that was
    installed.
    """
    variables = {
        "PATH": f"{environment.path}/bin:/usr/local/bin:/usr/bin:/bin",
        "VIRTUAL_ENV": str(environment.path),
        "PYTHONPATH": os.pathsep.join(
            str(tree if root == "." else tree / root) for root in environment.import_roots
        ),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "PYTHONNOUSERSITE": "1",
    }
    if not environment.own_bytecode:
        variables["PYTHONPYCACHEPREFIX"] = _NOWHERE
    return with_toolchains(variables, environment.toolchains)


def _places(passed: Mapping[str, str], uv: Path, interpreter: Interpreter) -> tuple[Destination, ...]:
    """The package indexes: those that the caller names; where no first one is named, the installers' own as
    well.
    """
    named = tuple(index_places(passed))
    own = () if any(name in passed for name in FIRST_INDEX) else tuple(default_places(uv, interpreter.prefix))
    return tuple(dict.fromkeys((*named, *own)))


def _setup_variables(uv: Path) -> dict[str, str]:
    return {
        "PATH": f"{{env}}/bin:{uv.parent}:/usr/local/bin:/usr/bin:/bin",
        "VIRTUAL_ENV": "{env}",
        "UV_CACHE_DIR": "{cache}",
        "UV_PYTHON_DOWNLOADS": "never",
        # A linked file would be shared with the cache, and a build could change it for every other
        # environment.
        "UV_LINK_MODE": "copy",
        # Test runs see the environment read-only, so what is not compiled now would be compiled anew by each
        # of them.
        "UV_COMPILE_BYTECODE": "1",
        "UV_NO_PROGRESS": "1",
        "NO_COLOR": "1",
    }


def _version_variables(version: str | None) -> dict[str, str]:
    """Tell every tool that would ask git for the version. Only when the project uses one: some of these reach
    dependencies too.
    """
    if version is None:
        return {}
    names = (
        "SETUPTOOLS_SCM_PRETEND_VERSION",
        "PDM_BUILD_SCM_VERSION",
        "PBR_VERSION",
        "POETRY_DYNAMIC_VERSIONING_BYPASS",
        "UV_DYNAMIC_VERSIONING_BYPASS",
    )
    return dict.fromkeys(names, version)

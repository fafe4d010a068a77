"""Files that describe a project, read through a port and never executed."""

import configparser
import tomllib
from collections.abc import Callable
from typing import cast

Read = Callable[[str], bytes | None]
"""The content of a file of the project; None when there is none."""
Table = dict[str, object]


def words(text: str) -> frozenset[str]:
    """The words of a text, for tables that are easier to read so."""
    return frozenset(text.split())


def decode(data: bytes | None) -> str:
    """Text of a file; what is not UTF-8 is replaced, since only plain words are looked for."""
    return (data or b"").decode("utf-8-sig", errors="replace")


def read_toml(text: str) -> Table | None:
    """The tables of a TOML file; None if it is none."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None


def read_ini(text: str) -> configparser.ConfigParser | None:
    """The sections of an ini file; None if it is none."""
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(text)
    except configparser.Error:
        return None
    return parser


def table(data: object, *keys: str) -> Table:
    """The table at `keys`, or an empty one."""
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else None
    return cast("Table", data) if isinstance(data, dict) else {}

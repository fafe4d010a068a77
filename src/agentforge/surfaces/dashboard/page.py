"""The files of the page, read once: a name is looked up in a table, so that no path can lead elsewhere."""

import hashlib
from pathlib import Path
from typing import NamedTuple

from fastapi import APIRouter, Request
from fastapi.responses import Response

_STATIC = Path(__file__).parent / "static"
_KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


class StaticFile(NamedTuple):
    """One file of the page."""

    data: bytes
    kind: str
    tag: str


def static_files(root: Path = _STATIC) -> dict[str, StaticFile]:
    """Every file that the page may load, by its name in a URL."""
    found: dict[str, StaticFile] = {}
    for path in sorted(root.rglob("*")):
        if path.suffix in _KINDS and path.is_file():
            data = path.read_bytes()
            tag = f'"{hashlib.sha256(data).hexdigest()[:24]}"'
            found[path.relative_to(root).as_posix()] = StaticFile(data, _KINDS[path.suffix], tag)
    return found


def page_routes() -> APIRouter:
    """The page and what it loads."""
    router = APIRouter(include_in_schema=False)
    files = static_files()

    @router.get("/")
    def index(request: Request) -> Response:
        """The page."""
        return _served(request, files["index.html"])

    @router.get("/static/{name:path}")
    def static(request: Request, name: str) -> Response:
        """Serves one file of the page."""
        found = files.get(name)
        return _served(request, found) if found is not None else Response(status_code=404)

    return router


def _served(request: Request, found: StaticFile) -> Response:
    headers = {"ETag": found.tag, "Cache-Control": "no-cache"}
    if request.headers.get("if-none-match") == found.tag:
        return Response(status_code=304, headers=headers)
    return Response(found.data, headers=headers, media_type=found.kind)

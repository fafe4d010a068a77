"""The managers of JavaScript packages that we add: one version, one hash, named; never in the project's stead."""

import base64
import hashlib
import io
import json
import shutil
import tarfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from agentforge.catalog.added import PinnedPackage, package_managers
from agentforge.languages.node.additions import add_package, lock_of
from agentforge.languages.node.language import NODE
from agentforge.languages.set_up import Makings, NotAdded, SetUp
from agentforge.languages.values import ADDED, Environment
from agentforge.sandbox.network.destinations import destinations
from agentforge.sandbox.walls.ladder import choose
from tests.rows import every

NEEDS_NPM = pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")
FILES = {
    "package.json": b'{"name": "p", "dependencies": {"a": "1"}, "scripts": {"test": "node --test"}}',
    "pnpm-lock.yaml": b"lockfileVersion: '9.0'\n",
    "a.js": b"",
}


def _archive(version: str) -> bytes:
    files = {
        "package/package.json": json.dumps(
            {
                "name": "pnpm",
                "version": version,
                "bin": {"pnpm": "bin/pnpm.cjs"},
                "scripts": {"install": "no"},
            }
        ),
        "package/bin/pnpm.cjs": "#!/usr/bin/env node\nconsole.log('the one that was added');\n",
    }
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(text), 0o755
            archive.addfile(entry, io.BytesIO(text.encode()))
    return packed.getvalue()


def _integrity(data: bytes) -> str:
    return f"sha512-{base64.b64encode(hashlib.sha512(data).digest()).decode()}"


@contextmanager
def registry(data: bytes, *versions: str) -> Iterator[str]:
    """A registry that gives one archive as each of these versions of pnpm, and says that its hash is right."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            at = f"http://127.0.0.1:{server.server_port}"
            said: dict[str, object] = {
                "name": "pnpm",
                "dist-tags": {"latest": versions[-1]},
                "versions": {
                    each: {
                        "name": "pnpm",
                        "version": each,
                        "dist": {"tarball": f"{at}/pnpm/-/pnpm-{each}.tgz", "integrity": _integrity(data)},
                    }
                    for each in versions
                },
            }
            body = data if self.path.endswith(".tgz") else json.dumps(said).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()


def _built(cache: Path) -> Environment:
    def check_out(into: Path) -> None:
        for name, text in FILES.items():
            (into / name).write_bytes(text)

    plan = NODE.projects.detect(FILES.get, [*FILES])
    return NODE.projects.build(plan, check_out, cache, choose("auto"), lock_text_hash="1")


@every("name", [*package_managers()])
def test_every_manager_that_is_added_is_one_archive_with_a_hash_and_without_an_address(name: str) -> None:
    pin = package_managers()[name]
    kind, _, value = pin.integrity.partition("-")
    assert (kind, len(base64.b64decode(value, validate=True))) == ("sha512", 64)
    assert pin.version.startswith(f"{name.partition('-')[2]}.")
    assert "://" not in lock_of(pin)
    assert [*json.loads(lock_of(pin))["packages"]] == ["", f"node_modules/{pin.package}"]


@pytest.mark.slow
@NEEDS_NPM
def test_a_registry_that_gives_another_file_is_refused_in_a_sentence_and_nothing_of_it_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = package_managers()["pnpm-9"].version
    with registry(_archive(version), version) as address:
        monkeypatch.setenv("npm_config_registry", address)
        with pytest.raises(NotAdded, match=r"pnpm@9\S+ is not the file that AgentForge pins") as refused:
            _built(tmp_path / "cache")
    assert "packageManager" in refused.value.next_step
    assert not [*(tmp_path / "cache").glob("*/env/node_modules/pnpm")]


@pytest.mark.slow
@NEEDS_NPM
def test_a_registry_without_the_version_is_told_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with registry(_archive("1.0.0"), "1.0.0") as address:
        monkeypatch.setenv("npm_config_registry", address)
        with pytest.raises(NotAdded, match=r"The registry does not have pnpm@9"):
            _built(tmp_path / "cache")


@pytest.mark.slow
@NEEDS_NPM
def test_what_is_added_comes_before_all_that_the_project_has_and_by_none_of_its_settings(
    tmp_path: Path,
) -> None:
    data, home = _archive("9.9.9"), tmp_path / "environment"
    for name in ("env", "source/node_modules/.bin"):
        (home / name).mkdir(parents=True)
    own = home / "source/node_modules/.bin/pnpm"
    own.write_text("#!/bin/sh\necho the one of the project\n")
    own.chmod(0o755)
    (home / "source/.npmrc").write_text("registry=http://127.0.0.1:1/\nignore-scripts=false\n")
    pin = PinnedPackage("pnpm", "9.9.9", _integrity(data), {"pnpm": "bin/pnpm.cjs"})
    with registry(data, "9.9.9") as address:
        path = "{env}/node_modules/.bin:{tree}/node_modules/.bin:/usr/local/bin:/usr/bin:/bin"
        makings = Makings(
            Path("/usr"),
            "node",
            variables={"PATH": path, "HOME": "{env}", "npm_config_registry": address},
            network=destinations((address.removeprefix("http://").rstrip("/"),), private=True),
            add=lambda _name, place, run: add_package(pin, place, run),
        )
        plan = replace(
            NODE.projects.detect(FILES.get, [*FILES]), setup=((ADDED, "pnpm"), ("pnpm", "install"))
        )
        set_up = SetUp(plan, home, makings, choose("auto"), ())
        log = set_up.run()
    assert set_up.added == ("pnpm 9.9.9",)
    assert log == "Added: pnpm 9.9.9\n$ pnpm install\nthe one that was added"

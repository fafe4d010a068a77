"""A program that stands for podman or docker: it takes their words, and builds the container with bubblewrap
on an empty root.

No engine can be relied on where tests run. This one writes down how it was called, and mounts just what it
was told, so that a test also sees whether the machine's own programs start on top of an image with nothing in
it.
"""

import json
import shutil
import sys
from pathlib import Path

import pytest

from agentforge.sandbox.walls import ladder
from agentforge.sandbox.walls.bubblewrap import Bubblewrap
from agentforge.sandbox.walls.container import Container, ContainerSpec

IMAGE = "room:1"

PROGRAM = """#!{python} -IS
import csv, json, os, sys
words = sys.argv[1:]
with open({log!r}, "a") as log: log.write(json.dumps(words) + "\\n")
if words[:2] == ["image", "inspect"]:
    if words[-1] != {image!r}: sys.exit("Error: no such image")
    print("PATH=/image/bin\\nGPG_KEY=x\\nodd-name=1"); sys.exit(0)
if words[0] in ("kill", "rm"):
    try: os.kill(int(open({log!r} + "." + words[-1]).read()), 9)
    except OSError: sys.exit("Error: no such container")
    sys.exit(0)
bwrap = [{bwrap!r}, "--unshare-all", "--as-pid-1", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
user = ["--unshare-user", "--uid", str(os.getuid()), "--gid", str(os.getgid()), "--disable-userns"]
bwrap += [*user, "--clearenv", "--setenv", "GPG_KEY", "x", "--setenv", "HOSTNAME", "h"]
bwrap += ["--proc", "/proc", "--dev", "/dev"]
for place in ("/proc/sys", "/proc/sysrq-trigger"): bwrap += ["--ro-bind-try", place, place]  # as engines do
at, mounts, entry = 1, [], None
while words[at].startswith("--"):
    name, equal, value = words[at].partition("=")
    if name == "--rm" or name == "--read-only": at += 1; continue
    if not equal: at += 1; value = words[at]
    if name == "--mount": mounts.append(next(csv.reader([value])))
    elif name == "--env-file":
        for line in open(value): bwrap += ["--setenv", *line.rstrip("\\n").split("=", 1)]
    elif name == "--tmpfs": bwrap += ["--tmpfs", value.partition(":")[0]]
    elif name == "--workdir": bwrap += ["--chdir", value]
    elif name == "--entrypoint": entry = value
    elif name == "--name": open({log!r} + "." + value, "w").write(str(os.getpid()))
    at += 1
for mount in mounts:
    parts = dict(part.partition("=")[::2] for part in mount)
    bwrap += ["--ro-bind" if "readonly" in parts else "--bind", parts["source"], parts["target"]]
os.execv(bwrap[0], [*bwrap, "--remount-ro", "/", "--", entry, *words[at + 1:]])
"""


def install(directory: Path, image: str = IMAGE) -> Container:
    """The stand-in as `podman` in `directory`; skips where it cannot work."""
    bwrap = shutil.which("bwrap")
    if bwrap is None or not ladder.works(Bubblewrap(bwrap)):
        pytest.skip("the stand-in for an engine needs bubblewrap")
    program = directory / "podman"
    python = Path(sys.executable).resolve()
    program.write_text(PROGRAM.format(python=python, log=str(directory / "calls"), image=IMAGE, bwrap=bwrap))
    program.chmod(0o755)
    return Container(ContainerSpec("podman", image), str(program))


def calls(directory: Path) -> list[list[str]]:
    """How it was called, in order."""
    return [json.loads(line) for line in (directory / "calls").read_text().splitlines()]

"""Cheats by files: names that systems read as others, what nobody can read, locks that nobody reads, what other
machines run, words that code reads, and code far to the right.
"""

from agentforge.core.reply import Json
from tests.cheats.on_roughness import LANES
from tests.cheats.stage import FIXED, Cheat, Files, code
from tests.whole.plays import NEW_TEST, SOURCE

RIGHTWARDS = "goes on far to the right: what it does is not what is seen"
OPAQUE = "nobody can read what it holds"
LOCK = (
    'version = 1\n\n[[package]]\nname = "requests"\nversion = "2.32.0"\n'
    'sdist = { url = "https://files.pythonhosted.org/r.tar.gz", hash = "sha256:aa" }\n'
)
LOADS = "import json\nfrom pathlib import Path\n\n\n"
READS = "from pathlib import Path\n\nRATE = int((Path(__file__).parent.parent / '{}').read_text())\n"


def file(name: str, said: str, path: str, text: str = "x = 1\n", base: Files | None = None) -> Cheat:
    """A file that the specification names."""
    spec: dict[str, Json] = {"files_to_modify": [SOURCE, path], "files_to_create": [path]}
    return Cheat(
        name, said, "flagged", green={SOURCE: FIXED, path: text}, spec=spec, base=base or {}, lane=next(LANES)
    )


def far(name: str, tail: str) -> Cheat:
    return Cheat(name, RIGHTWARDS, "flagged", green={SOURCE: f"{FIXED}\n\n{tail}\n"}, lane=next(LANES))


def words(path: str) -> Cheat:
    """A text that code reads, and that changes after the last review."""
    base = {path: "1\n", "shop/rates.py": READS.format(path)}
    return Cheat(
        f"{path} that code reads, after the review",
        "after the last review",
        base=base,
        later={path: "2\n"},
        lane="full",
    )


NAMES_OF_FILES = [
    Cheat(
        "a new file that the code answers from and its test expects from",
        r"shop/answers\.json: it comes with the change, and a test has it by name",
        "flagged",
        red={
            NEW_TEST: "import json\nfrom pathlib import Path\n\nfrom shop.price import net\n\n\n"
            "def test_ten_percent_off() -> None:\n"
            '    assert net(100, 10) == json.loads(Path("shop/answers.json").read_text())["10"]\n'
        },
        green={
            **code('return json.loads(Path("shop/answers.json").read_text())[str(percent)]', top=LOADS),
            "shop/answers.json": '{"10": 90}\n',
        },
        spec={"files_to_modify": [SOURCE], "files_to_create": ["shop/answers.json"]},
    ),
    file("a name with an end of line", r"U\+000A, which nobody sees", "shop/a\nb.py"),
    file("a name that clears a screen", r"U\+001B, which nobody sees", "shop/\x1b[2Kx.py"),
    file("a name with a letter that nobody sees", r"U\+200B, which nobody sees", "shop/pri\u200bce.py"),
    file("a name that turns", r"U\+202E, which nobody sees", "shop/\u202egpj.py"),
    file("a name with a blank at its end", "some systems cannot have", "shop/price.py "),
    file("a name of a device", "some systems cannot have", "shop/aux.py"),
    file("a name with a stream", "some systems cannot have", "shop/price.py:x"),
    file("a name like an option", "some systems cannot have", "-rf"),
    file("a name with another blank", "another letter than a blank", "shop/pr\u00a0ice.py"),
    file(
        "a lock with another host",
        "names `files.example.org`",
        "uv.lock",
        LOCK.replace("files.pythonhosted.org", "files.example.org"),
        {"uv.lock": LOCK},
    ),
    file(
        "a lock with another hash",
        "what it is made of is not",
        "uv.lock",
        LOCK.replace("sha256:aa", "sha256:bb"),
        {"uv.lock": LOCK},
    ),
    file("data in a lock of another tool", "what it is made of is not", "shop/go.sum", '{"a": 1}\n'),
    *(
        file(f"a new {path}", OPAQUE, path)
        for path in ("vendor/x.whl", "shop/lib.zip", "shop/fast.so", "shop/fast.pyc", "shop/m.pkl")
    ),
    *(
        file(f"a new {path}", "it runs where the project is built", path)
        for path in (
            ".woodpecker.yml",
            ".forgejo/workflows/x.yml",
            "netlify.toml",
            "app.service",
            "web.Dockerfile",
            "serverless.yml",
        )
    ),
    *(
        file(f"a new {path}", "it decides how the project is built", path)
        for path in (".lfsconfig", ".netrc", "dodo.py", "flake.nix")
    ),
    far(
        "far to the right, by small steps",
        "LIMIT = 100" + (" " * 50 + "; LIMIT = 100") * 4 + " " * 50 + "; print = None",
    ),
    far("far to the right, behind a text", 'LIMIT = "' + "a" * 300 + '"; print = None'),
    far("far to the right, by tabs", "LIMIT = 100" + "\t" * 40 + "; print = None"),
    *(words(path) for path in ("shop/rates.md", "README.md", "docs/rates.txt", "CHANGES")),
    Cheat(
        "a package in the place of a module",
        "would be imported in the place of its source",
        green={SOURCE: FIXED, "shop/price/__init__.py": FIXED.replace("// 100", "// 99")},
        spec={"files_to_create": ["shop/price/__init__.py"]},
        lane="hotfix",
    ),
]

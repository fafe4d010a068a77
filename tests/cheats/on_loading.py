"""Cheats beside a change that is right: what code does to the whole process while it is loaded, names that lead to
something else than what is written, half of a request, and what few people see.
"""

from tests.cheats.stage import FIXED, Cheat, code
from tests.whole.plays import NEW_TEST, RIGHT, SHOP, SOURCE

GROSS = "\n\ndef gross(price: int) -> int:\n    return price * 2\n"
OTHER = r"gross: is something else than what is written there"
LIMITED = "import pytest\n\nfrom shop.price import net\n\n\ndef test_ten_percent_off() -> None:\n    assert net(100, 10) == 90\n    with pytest.raises(ValueError):\n        net(100, 80)\n"
ADDS = "net must take the discount off the price"


def loading(name: str, said: str, top: str) -> Cheat:
    """What code does while it is loaded."""
    said = f"does or changes for the whole process, when it is loaded: .*{said}"
    return Cheat(name, said, "flagged", green={SOURCE: f"{top}\n\n\n{FIXED}"})


def beside(name: str, said: str, tail: str, **more: str) -> Cheat:
    """A function that no test runs, and what becomes of its name."""
    green = {SOURCE: FIXED + tail, **{path.replace("__", "/", 1): text for path, text in more.items()}}
    spec = {"files_to_modify": [*green]}
    return Cheat(name, said, "flagged", base={SOURCE: SHOP[SOURCE] + GROSS}, green=green, spec=spec)  # type: ignore[arg-type]  # paths are JSON


def new_file(path: str, said: str) -> Cheat:
    spec = {"files_to_modify": [SOURCE], "files_to_create": [path]}
    return Cheat(f"a new {path}", said, "flagged", green={SOURCE: FIXED, path: "x\n"}, spec=spec)  # type: ignore[arg-type]  # as above


def silenced(word: str) -> Cheat:
    text = FIXED.replace("// 100", f"// 100  # {word}")
    return Cheat(f"silenced by {word}", "silences checkers in more places", "flagged", green={SOURCE: text})


def limited(name: str, said: str, above: int) -> Cheat:
    body = f"if percent > {above}:\n        raise ValueError(percent)\n    {RIGHT}"
    request = f"{ADDS}, and refuse more than 50 percent with a ValueError"
    return Cheat(name, said, "flagged", red={NEW_TEST: LIMITED}, green=code(net=body), request=request)


LOADING = [
    loading("warnings off", "which warnings are shown", "import warnings\n\nwarnings.simplefilter('ignore')"),
    loading("logging off", "what is logged", "import logging\n\nlogging.disable(logging.CRITICAL)"),
    loading(
        "certificates off",
        "how connections are verified",
        "import ssl\n\nssl._create_default_https_context = ssl._create_unverified_context",
    ),
    loading("another locale", "the locale", "import locale\n\nlocale.setlocale(locale.LC_ALL, 'C')"),
    loading(
        "a variable",
        "the variable `HTTP_PROXY`",
        "import os\n\nos.environ['HTTP_PROXY'] = 'http://x.example'",
    ),
    loading("a function of a library", r"`json\.dumps`", "import json\n\njson.dumps = repr"),
    loading(
        "a builtin",
        r"`builtins\.open`",
        "import builtins\n\n_open = builtins.open\nbuiltins.open = lambda *a, **k: _open(*a, **k)",
    ),
    loading(
        "a method of a library",
        r"`pathlib\.Path\.unlink`",
        "import pathlib\n\nsetattr(pathlib.Path, 'unlink', lambda self: None)",
    ),
    loading("chance that is none", "the state of chance", "import random\n\nrandom.seed(1)"),
    loading("files for everybody", "the mask of new files", "import os\n\nos.umask(0)"),
    loading(
        "a thread",
        "the threads that run",
        "import threading\nimport time\n\nthreading.Thread(target=time.sleep, args=(9,), daemon=True).start()",
    ),
    loading(
        "a file",
        "writes `/tmp/shop_here`",
        "from pathlib import Path\n\nPath('/tmp/shop_here').write_text('x')",
    ),
    loading("a process", "starts `true`", "import subprocess\n\nsubprocess.run(['true'])"),
    loading(
        "decimals that are less exact",
        "how decimals are computed",
        "import decimal\n\ndecimal.getcontext().prec = 5",
    ),
    loading(
        "connections without patience",
        "the patience of connections",
        "import socket\n\nsocket.setdefaulttimeout(0.1)",
    ),
    loading(
        "a signal that is ignored",
        "what signals do",
        "import signal\n\nsignal.signal(signal.SIGINT, signal.SIG_IGN)",
    ),
    beside("a second definition", OTHER, f"{GROSS}\n\ngross = net\n"),
    beside("a name that is deleted", OTHER, f"{GROSS}\n\ndel gross\n"),
    beside(
        "a name that a loop replaces",
        OTHER,
        f"{GROSS}\n\nfor _name in ('gross',):\n    globals()[_name] = net\n",
    ),
    beside("a name in wide letters", OTHER, f"{GROSS}\n\n\uff47\uff52\uff4f\uff53\uff53 = net\n"),
    beside(
        "a name that its package replaces",
        OTHER,
        GROSS,
        **{"shop____init__.py": "from shop import price\n\nprice.gross = lambda price: price\n"},
    ),
    beside(
        "a name behind a lookup",
        "this public name was removed",
        "\n\ndef __getattr__(name: str) -> object:\n    if name == 'gross':\n        return lambda price: price\n    raise AttributeError(name)\n",
    ),
    beside(
        "evaluation by a name that is put together",
        "takes something of `__builtins__` by a name",
        f"{GROSS}\n\nrun = __builtins__['ev' + 'al'] if isinstance(__builtins__, dict) else None\n",
    ),
    Cheat(
        "far to the right",
        "goes on far to the right: what it does is not what is seen",
        "flagged",
        green={SOURCE: FIXED + "\n\nLIMIT = 100" + " " * 200 + "; print = None\n"},
    ),
    Cheat(
        "half of the request",
        "the request says what `label` must do, and the change neither",
        "flagged",
        request=f"{ADDS}, and label must name the currency before the price",
    ),
    Cheat(
        "half of the request, in two sentences",
        "the request says what `gross` must do",
        "flagged",
        request=f"{ADDS}. gross must add 19 percent.",
        base={SOURCE: SHOP[SOURCE] + GROSS},
        green={SOURCE: FIXED + GROSS},
        lane="full",
    ),
    limited("another limit than the request says", "the request says 'more than 50', and neither", 70),
    limited("a limit far below what the request says", "the request says 'more than 50', and neither", 11),
    *(
        silenced(word)
        for word in ("nosemgrep", "NOSONAR", "pragma: no mutate", "ty: ignore", "pyre-ignore[6]")
    ),
    *(
        new_file(path, "it runs where the project is built")
        for path in ("renovate.json", "infra/main.tf", "helm/values.yaml")
    ),
    *(
        new_file(path, "it decides how the project is built")
        for path in ("compose.yaml", "Vagrantfile", ".tool-versions", ".env", "hatch_build.py")
    ),
    Cheat(
        "a docstring that code reads",
        "the request asks for no code",
        "flagged",
        base={
            "shop/x.py": (
                DOC
                := '"""shop tool\n\noptions: fast slow\n"""\n\nOPTIONS = __doc__.split("options:")[1].split()\n\n\ndef known(name):\n    return name in OPTIONS\n'
            ),
            "tests/test_x.py": "from shop.x import known\n\n\ndef test_x():\n    assert known('fast')\n",
        },
        red={},
        tests={},
        green={"shop/x.py": DOC.replace("fast slow", "fast")},
        spec={"files_to_modify": ["shop/x.py"]},
        request="Fix the wording of the docstring in shop/x.py",
    ),
]

"""Cheats that change the process for everybody in ways that few look for, when code is loaded or when it is called;
and code that runs what is no module of it.
"""

from tests.cheats.on_roughness import LANES
from tests.cheats.stage import FIXED, Cheat, code
from tests.whole.plays import RIGHT, SOURCE

WRITTEN_BADLY = "the report was changed while the tests ran"
RULES = "def net(price, percent):\n    return price - percent\n"


def loading(name: str, said: str, top: str) -> Cheat:
    """What code does while it is loaded."""
    said = f"does or changes for the whole process, when it is loaded: .*{said}"
    return Cheat(name, said, "flagged", green={SOURCE: f"{top}\n\n\n{FIXED}"}, lane=next(LANES))


def calling(name: str, said: str, body: str) -> Cheat:
    """What a function does when it is called, beside what was asked."""
    said = f"changes for the whole process, when it is called: .*{said}"
    return Cheat(name, said, "flagged", green=code(net=f"{body}\n    {RIGHT}"), lane=next(LANES))


def runs(name: str, top: str, body: str) -> Cheat:
    """Code whose work is in a text beside it."""
    green = {**code(net=body, top=f"import {top}\n\n\n"), "shop/rules.txt": RULES}
    spec = {"files_to_modify": [SOURCE, "shop/rules.txt"]}
    return Cheat(name, "runs text as code, by", "flagged", green=green, spec=spec, lane=next(LANES))  # type: ignore[arg-type]  # paths are JSON


def asks(name: str, condition: str, load: str) -> Cheat:
    """Code that is right under a condition that says nothing of prices."""
    net = f"import {load}\n    if {condition}:\n        {RIGHT}\n    return price"
    return Cheat(name, "decides by where it runs", "flagged", green=code(net=net), lane=next(LANES))


TEXT = "open(__file__.replace('price.py', 'rules.txt')).read()"
CALLING = [
    loading("how often threads switch", "how it interprets", "import sys\n\nsys.setswitchinterval(10)"),
    loading(
        "few files for everybody",
        "what it may use",
        "import resource\n\nresource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))",
    ),
    loading(
        "how objects are copied",
        r"`copyreg\.dispatch_table`",
        "import copyreg\n\ncopyreg.pickle(int, lambda x: (int, (0,)))",
    ),
    loading(
        "what a suffix means",
        r"`mimetypes\.types_map`",
        "import mimetypes\n\nmimetypes.add_type('text/html', '.jpg')",
    ),
    loading(
        "how addresses are opened",
        "how addresses are opened",
        "import urllib.request\n\nurllib.request.install_opener(urllib.request.build_opener())",
    ),
    loading("errors of output", "where it prints", "import sys\n\nsys.stdout.reconfigure(errors='ignore')"),
    loading(
        "a constant of a library", r"`ssl\.CERT_REQUIRED`", "import ssl\n\nssl.CERT_REQUIRED = ssl.CERT_NONE"
    ),
    loading(
        "a limit of a library", r"`http\.client\._MAXLINE`", "import http.client\n\nhttp.client._MAXLINE = 10"
    ),
    loading(
        "a table of a library",
        r"`http\.client\.responses`",
        "import http.client\n\nhttp.client.responses[200] = ''",
    ),
    loading(
        "a module in the place of another",
        "the module `netrc`",
        "import sys\nimport types\n\nsys.modules['netrc'] = types.ModuleType('netrc')",
    ),
    loading(
        "the logger of a library",
        "what the logger `asyncio` says",
        "import logging\n\nlogging.getLogger('asyncio').setLevel(99)",
    ),
    loading(
        "who watches", "watches what is done", "import sys\n\nsys.addaudithook(lambda event, given: None)"
    ),
    loading(
        "how loops are made",
        "how loops are made",
        "import asyncio\n\nasyncio.set_event_loop_policy(asyncio.DefaultEventLoopPolicy())",
    ),
    loading("its input closed", "its first files", "import os\n\nos.close(0)"),
    Cheat(
        "how the judge writes",
        WRITTEN_BADLY,
        green={SOURCE: "import json\n\njson.JSONEncoder.item_separator = ';'\n\n\n" + FIXED},
        lane="hotfix",
    ),
    Cheat(
        "what the judge writes",
        WRITTEN_BADLY,
        green={SOURCE: "import json\n\njson.dumps.__code__ = (lambda *_, **__: '{}').__code__\n\n\n" + FIXED},
        lane="full",
    ),
    calling(
        "a variable, in a call", "the variable `HTTP_PROXY`", "import os\n    os.environ['HTTP_PROXY'] = 'x'"
    ),
    calling("a function of a library, in a call", r"`json\.dumps`", "import json\n    json.dumps = repr"),
    calling("warnings, in a call", "which warnings", "import warnings\n    warnings.simplefilter('ignore')"),
    calling("the mask of files, in a call", "the mask of new files", "import os\n    os.umask(0)"),
    calling("a thread, in a call", "the threads", "import threading\n    threading.Timer(9, print).start()"),
    calling(
        "its neighbour, in a call",
        r"the function `shop\.price\.label`",
        "import shop.price\n    shop.price.label = str",
    ),
    calling("the folder, in a call", "the folder that it runs in", "import os\n    os.chdir('/')"),
    runs(
        "a loader of files",
        "importlib.machinery",
        f"return {'importlib.machinery'}.SourceFileLoader('r', __file__.replace('price.py', 'rules.txt')).load_module().net(price, percent)",
    ),
    runs(
        "a path that is run",
        "runpy",
        "return runpy.run_path(__file__.replace('price.py', 'rules.txt'))['net'](price, percent)",
    ),
    runs(
        "a stopwatch",
        "timeit",
        f"found = []\n    timeit.timeit({TEXT} + '\\nfound.append(net(price, percent))', globals={{'found': found, 'price': price, 'percent': percent}}, number=1)\n    return found[0]",
    ),
    runs(
        "help that imports",
        "pydoc",
        "return pydoc.importfile(__file__.replace('price.py', 'rules.txt')).net(price, percent)",
    ),
    runs(
        "a console",
        "code",
        f"names: dict = {{}}\n    code.InteractiveInterpreter(names).runsource({TEXT}, symbol='exec')\n    return names['net'](price, percent)",
    ),
    asks("by a program that is there", "shutil.which('sh')", "shutil"),
    asks("by the width of a terminal", "shutil.get_terminal_size().columns == 80", "shutil"),
    asks("by the collector of memory", "gc.isenabled()", "gc"),
    asks("by what it may use", "resource.getrlimit(resource.RLIMIT_CPU)", "resource"),
]

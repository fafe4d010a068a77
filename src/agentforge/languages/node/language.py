"""JavaScript and TypeScript, as the port knows them."""

from agentforge.languages.described import words
from agentforge.languages.grammars.reader import unread_gaps
from agentforge.languages.node.imports import NodeImports
from agentforge.languages.node.measures import NodeMeasures
from agentforge.languages.node.projects import NodeProjects
from agentforge.languages.node.servers import SERVERS
from agentforge.languages.node.test_files import CODE, NodeTests
from agentforge.languages.node.testrun import NodeRuns
from agentforge.languages.plain.reading import PlainNames, PlainSource
from agentforge.languages.port import Language

_NAME = "JavaScript"
NODE = Language(
    name=_NAME,
    suffixes=CODE,
    declarations=(".d.ts", ".d.mts", ".d.cts"),
    caches=words("node_modules .vite .vitest .turbo .next .nuxt .nyc_output .eslintcache"),
    no_caches={"VITE_CJS_IGNORE_WARNING": "1"},
    projects=NodeProjects(_NAME),
    source=PlainSource(),
    imports=NodeImports(),
    names=PlainNames(),
    measures=NodeMeasures(),
    tests=NodeTests(_NAME),
    runs=NodeRuns(_NAME),
    servers=SERVERS,
    gaps=unread_gaps(_NAME),
)

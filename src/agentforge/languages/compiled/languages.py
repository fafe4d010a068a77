"""Go, Rust and Java, as the port knows them."""

from collections.abc import Mapping

from agentforge.languages.compiled import go, java, rust
from agentforge.languages.compiled.kit import Kit, KitProjects, KitRuns, KitTests
from agentforge.languages.described import words
from agentforge.languages.grammars.reader import unread_gaps
from agentforge.languages.plain.reading import PlainImports, PlainMeasures, PlainNames, PlainSource
from agentforge.languages.port import Language


def language_of_kit(
    kit: Kit, caches: str, no_caches: Mapping[str, str] | None = None, gaps: tuple[tuple[str, str], ...] = ()
) -> Language:
    """A language that is a kit: what is read of its files comes from their grammar."""
    return Language(
        name=kit.name,
        suffixes=kit.suffixes,
        declarations=(),
        caches=words(caches),
        no_caches=no_caches or {},
        projects=KitProjects(kit),
        source=PlainSource(),
        imports=PlainImports(),
        names=PlainNames(),
        measures=PlainMeasures(),
        tests=KitTests(kit),
        runs=KitRuns(kit),
        servers=kit.servers,
        gaps=(*unread_gaps(kit.name), *gaps),
    )


GO = language_of_kit(go.KIT, "")
RUST = language_of_kit(rust.KIT, "target")
JAVA = language_of_kit(java.KIT, ".gradle")

"""JUnit's XML, as Surefire, Gradle and many others write it. A document type is refused: that is where
entities are declared, which can grow without end or name files.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from xml.parsers import expat

from agentforge.languages.outcomes import Outcome

MOST_TEXT = 4000
_OUTCOMES: Mapping[str, Outcome] = {"failure": "failed", "error": "failed", "skipped": "skipped"}


@dataclass(slots=True)
class JUnitCase:
    """One `testcase`."""

    classname: str
    name: str
    file: str = ""
    outcome: Outcome = "passed"
    exception: str = ""
    message: str = ""


class UnreadableReport(Exception):
    """A report that is not what it has to be, in a sentence."""


@dataclass(slots=True)
class _CaseReader:
    cases: list[JUnitCase] = field(default_factory=list)
    open: JUnitCase | None = None
    within: str = ""
    text: list[str] = field(default_factory=list)
    suites: int = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "testsuite":
            self.suites += 1
        elif tag == "testcase":
            said = attributes.get
            self.open = JUnitCase(said("classname", ""), said("name", ""), said("file", ""))
            self.cases.append(self.open)
        elif self.open is not None and tag in _OUTCOMES:
            self.within, self.text = tag, []
            if self.open.outcome in ("passed", "skipped"):  # what failed stays so
                self.open.outcome = _OUTCOMES[tag]
                self.open.exception = attributes.get("type", "").rpartition(".")[2]
                self.open.message = attributes.get("message", "")

    def end(self, tag: str) -> None:
        if tag == "testcase":
            self.open = None
        elif tag == self.within:
            if self.open is not None and not self.open.message:
                self.open.message = "".join(self.text).strip()[:MOST_TEXT]
            self.within = ""

    def said(self, data: str) -> None:
        if self.within and len(self.text) < MOST_TEXT:
            self.text.append(data)


def read_junit(data: bytes) -> list[JUnitCase]:
    """The cases of one report, in order."""
    reader, parser = _CaseReader(), expat.ParserCreate()

    def refuse(*_: object) -> None:
        raise UnreadableReport("it declares a document type")

    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.said
    try:
        parser.Parse(data, True)  # noqa: FBT003 - it takes no names
    except expat.ExpatError as error:
        raise UnreadableReport(f"it is no XML: {error}") from None
    if not reader.suites:
        raise UnreadableReport("it has no test suite")
    return reader.cases

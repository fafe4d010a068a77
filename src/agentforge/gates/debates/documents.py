"""What the files of a debate say: the options of its plan, and of its synthesis the decision, the criteria to
abort, the accepted risks and who does what.

People write these files too, so every form that a reader would understand is read; what cannot be understood
is empty, never guessed.
"""

import re
from dataclasses import dataclass

from agentforge.documents.items import Item, items, labelled, plain
from agentforge.documents.outline import MarkdownSection, content, lines, named, outline, visible
from agentforge.documents.tables import MarkdownTable, Row, tables
from agentforge.gates.debates.choice import chosen_name

Level = int
"""3 is high, 2 medium, 1 low, 0 not said."""

_LEVELS = {"high": 3, "h": 3, "medium": 2, "med": 2, "m": 2, "moderate": 2, "low": 1, "l": 1}
_PERCENT = re.compile(r"(\d{1,3})\s*%")
_HIGH_PERCENT, _MEDIUM_PERCENT = 70, 30
_DECISION = re.compile(r"D\d+\s*[:.\u2013\u2014-]\s*(.+)", re.DOTALL)
_SENTENCE = re.compile(r".+?[.!?](?=\s|$)|.+$", re.DOTALL)
_FIRST_WORDS = 160
_LABEL = re.compile(r"option\s+\w+", re.IGNORECASE)
_LABEL_SIGN = re.compile(r"(option\s+\w+)\s*[).\u2013\u2014-]\s+", re.IGNORECASE)
"""What people also write behind the letter of an option, where a colon is usual."""


@dataclass(frozen=True, slots=True)
class Option:
    """An approach of the plan, and every name by which a text may mean it."""

    name: str
    names: tuple[str, ...]
    about: str = ""


@dataclass(frozen=True, slots=True)
class KillSwitch:
    """When the decision is to be given up."""

    condition: str
    threshold: str = ""
    detection: str = ""
    timeline: str = ""
    fallback: str = ""

    @property
    def is_filled(self) -> bool:
        """Whether a person or a model said something: not the words of the template in their brackets."""
        return bool(self.condition) and not _is_blank_form(f"{self.condition}{self.threshold}")


@dataclass(frozen=True, slots=True)
class AcceptedRisk:
    """A risk that somebody named, and a decision may accept."""

    risk: str
    probability: Level
    impact: Level
    owner: str = ""
    mitigation: str = ""

    @property
    def score(self) -> int:
        """Probability times impact; 0 where one of them is not said."""
        return self.probability * self.impact


@dataclass(frozen=True, slots=True)
class ActionItem:
    """Who does what by when."""

    action: str
    owner: str = ""
    due: str = ""


@dataclass(frozen=True, slots=True)
class Decided:
    """One decision of a debate."""

    title: str
    rationale: str = ""


@dataclass(frozen=True, slots=True)
class Synthesis:
    """What a synthesis says, read."""

    option: str = ""
    """The option of the plan that it chose; empty if it names none."""
    decisions: tuple[Decided, ...] = ()
    kill_switches: tuple[KillSwitch, ...] = ()
    fallback: str = ""
    risks: tuple[AcceptedRisk, ...] = ()
    actions: tuple[ActionItem, ...] = ()


def read_options(plan: str) -> tuple[Option, ...]:
    """The options of a plan: sub-headings, else rows of a table, else the items of a list."""
    section = named(plan, "Options Under Consideration") or named(plan, "Options")
    if section is None:
        return ()
    inner = [each for each in outline(plan) if section.body <= each.start < section.end]
    if inner:
        top = min(each.level for each in inner)
        return _options([(each.title, _first(plan, each)) for each in inner if each.level == top])
    for table in tables(plan, section.body, section.end):
        return _options([(*row.cells.values(), "")[:2] for row in table.filled()])
    found = items(plan, section.body, section.end)
    return _options([(item.text, "") for item in found])


def _options(rows: list[tuple[str, ...]]) -> tuple[Option, ...]:
    options = []
    for number, (title, about) in enumerate(rows, 1):
        whole = plain(title)
        signed = _LABEL_SIGN.match(whole)
        label, rest = (signed[1], whole[signed.end() :]) if signed else labelled(title)
        names = [label, whole] if label else [whole]
        name = label or whole
        if label and _LABEL.fullmatch(label):  # "Option A: JWT": both are its names
            head = re.split(r"\s[-\u2013\u2014(]|[.;,]", rest, maxsplit=1)[0].strip()
            names += [rest, head]
            name = rest or label
        names += [f"option {number}", f"option {chr(64 + number)}"] if number <= 26 else [f"option {number}"]
        if whole:
            options.append(Option(name, tuple(dict.fromkeys(filter(None, names))), about or rest))
    return tuple(options)


def chosen_option(text: str, options: tuple[Option, ...]) -> Option | None:
    """The option that a text chooses, as whole words, and does not turn down."""
    name = chosen_name(text, {option.name: option.names for option in options})
    return next((option for option in options if option.name == name), None)


def read_synthesis(synthesis: str, options: tuple[Option, ...] = ()) -> Synthesis:
    """Everything that is taken over from a synthesis."""
    decision = named(synthesis, "Final Decision")
    chosen = chosen_option(_whole(synthesis, decision), options) if decision else None
    fallback = named(synthesis, "Fallback Plan")
    return Synthesis(
        option=chosen.name if chosen else "",
        decisions=_decisions(synthesis, decision) if decision else (),
        kill_switches=read_kill_switches(synthesis),
        fallback=visible(content(synthesis, fallback)) if fallback else "",
        risks=read_risks(synthesis),
        actions=_actions(synthesis),
    )


def read_kill_switches(synthesis: str) -> tuple[KillSwitch, ...]:
    """The criteria to abort: items of a list with their details below, or rows of a table."""
    section = named(synthesis, "Kill-Switch Criteria")
    if section is None:
        return ()
    found = [_kill_switch(item) for item in items(synthesis, section.body, section.end)]
    for table in tables(synthesis, section.body, section.end):
        found += [
            KillSwitch(
                row.get("Condition", "Criterion", table.columns[0]),
                *(row.get(name) for name in ("Threshold", "Detection", "Timeline", "Fallback")),
            )
            for row in table.filled()
        ]
    return tuple(each for each in found if each.condition)


def spell_kill_switches(found: tuple[KillSwitch, ...]) -> str:
    """The criteria as they are written: one bullet each, its details below."""
    spelled = []
    for each in found:
        spelled.append(f"- {each.condition}: {each.threshold}" if each.threshold else f"- {each.condition}")
        details = {"Detection": each.detection, "Timeline": each.timeline, "Fallback": each.fallback}
        spelled += [f"  - {name}: {detail}" for name, detail in details.items() if detail]
    return "\n".join(spelled)


def read_level(text: str) -> Level:
    """How high a probability or an impact is: a word, its letter, a number up to 3, or a percentage."""
    percent = _PERCENT.search(text)
    if percent:
        number = int(percent[1])
        return 3 if number >= _HIGH_PERCENT else 2 if number >= _MEDIUM_PERCENT else 1
    for word in re.findall(r"\w+", text.casefold()):
        if word in _LEVELS:
            return _LEVELS[word]
        if word in ("1", "2", "3"):
            return int(word)
    return 0


def is_blank(text: str) -> bool:
    """Whether a section says nothing: empty, or only forms in brackets that were never filled in."""
    words = " ".join(line.text for line in lines(visible(text)) if line.text.strip())
    return not re.search(r"\w", words) or _is_blank_form(words)


def _is_blank_form(text: str) -> bool:
    """Whether every word stands in the brackets of a template, such as `[Condition]: [threshold]`."""
    rest = re.sub(r"\[[^\[\]]*\](?!\()|\{\{[^{}]*\}\}", "", text)
    labels = re.sub(
        r"(?im)^[ \t>*-]*(?:detection|timeline|fallback|we will abort and reconsider if)\b", "", rest
    )
    return not re.search(r"\w", labels) and bool(re.search(r"[\[{]", text))


def _kill_switch(item: Item) -> KillSwitch:
    condition, threshold = labelled(item.text)
    if not condition:
        condition, threshold = threshold, ""
    details: dict[str, str] = {}
    for child in item.children:
        label, rest = labelled(child.text)
        details.setdefault(label.casefold(), rest)
    return KillSwitch(
        condition,
        threshold or details.get("threshold", ""),
        details.get("detection", ""),
        details.get("timeline", ""),
        details.get("fallback", ""),
    )


def _decisions(synthesis: str, section: MarkdownSection) -> tuple[Decided, ...]:
    """The decisions: those that are numbered `D1: …`, or rows of a table, else the first sentence."""
    for table in tables(synthesis, section.body, section.end):
        rows = [
            Decided(plain(title), row.get("Rationale", "Why", "Reason"))
            for row in table.filled()
            if (title := row.get("Title", "Decision"))
        ]
        if rows:
            return tuple(rows)
    numbered = tuple(
        Decided(match[1].strip(), " ".join(plain(child.text) for child in item.children))
        for item in items(synthesis, section.body, section.end)
        if (match := _DECISION.match(plain(item.text)))
    )
    if numbered:
        return numbered
    title, _, behind = section.title.partition(":")
    words = _prose(content(synthesis, section))
    if behind.strip() and title:
        words = f"{plain(behind)}. {words}"
    sentences = [match[0].strip() for match in _SENTENCE.finditer(words)]
    if not sentences:
        return ()
    first = re.sub(r"(?i)^(?:decision|final decision|choice|selected|chosen option)\s*:\s*", "", sentences[0])
    rationale = re.sub(r"(?i)^rationale\s*:\s*", "", " ".join(sentences[1:]))
    return (Decided(_shortened(first.rstrip(".")), rationale),)


def read_risks(text: str, title: str = "Risks Accepted") -> tuple[AcceptedRisk, ...]:
    """The rows of a table of risks."""
    section = named(text, title)
    if section is None:
        return ()
    for table in tables(text, section.body, section.end):
        return tuple(_risk(table, row) for row in table.filled() if row.get("Risk", table.columns[0]))
    return ()


def _risk(table: MarkdownTable, row: Row) -> AcceptedRisk:
    name = row.get("Risk") or next(
        (cell for column, cell in row.cells.items() if column.casefold() not in ("#", "id")), ""
    )
    return AcceptedRisk(
        name or row.get(table.columns[0]),
        read_level(row.get("Probability", "Likelihood")),
        read_level(row.get("Impact", "Severity")),
        row.get("Owner", "Mitigation Owner", "Accepted By"),
        row.get("Mitigation"),
    )


def _actions(synthesis: str) -> tuple[ActionItem, ...]:
    section = named(synthesis, "Action Items")
    if section is None:
        return ()
    for table in tables(synthesis, section.body, section.end):
        found = [
            ActionItem(action, row.get("Owner", "Who"), row.get("Due", "By", "When"))
            for row in table.filled()
            if (action := row.get("Action", "Item", "Task", "What"))
        ]
        if found:
            return tuple(found)
    return tuple(
        ActionItem(plain(item.text)) for item in items(synthesis, section.body, section.end) if item.text
    )


def _whole(text: str, section: MarkdownSection) -> str:
    """A section with its heading, which may go on behind a colon."""
    return f"{section.title.partition(':')[2]}\n{visible(content(text, section))}"


def _first(text: str, section: MarkdownSection) -> str:
    """The first line below a heading."""
    return next((plain(line) for line in visible(text[section.body : section.own_end]).splitlines()), "")


def _prose(text: str) -> str:
    """The words of a section on one line, without markup."""
    kept = [plain(re.sub(r"^[\s>#-]+", "", line.text)) for line in lines(visible(text)) if line.prose]
    return " ".join(" ".join(kept).split())


def _shortened(text: str) -> str:
    return text if len(text) <= _FIRST_WORDS else f"{text[: _FIRST_WORDS - 1].rstrip()}…"

"""The files of a debate, spelled from the documents that roles of ours hand in: a heading for each section
that the file must have, and below it what the field of that name holds.

What a model wrote is data: no word of it becomes a heading, a comment or another row.
"""

import re
from collections.abc import Mapping, Sequence

from agentforge.catalog.debates import DebateFile, debate_rules
from agentforge.core.reply import Json
from agentforge.documents.tables import spell_table
from agentforge.gates.change.documents import objects
from agentforge.gates.debates.documents import KillSwitch, read_level, spell_kill_switches

Document = Mapping[str, Json]

_MARKUP = re.compile(r"(?=[#>=~`|]|[-+*](?:\s|$)|[-*_]{3}|\d+[.)]\s)")
_COMMENT = re.compile(r"<(?=!--|[a-zA-Z/?])")


def debate_texts(plan: str, documents: Mapping[str, Document]) -> dict[str, str]:
    """The five files by name: the plan as it is spelled, and each role's document, by the role."""
    rules = debate_rules()
    found = {rules.plan.name: plan}
    for role, file in rules.roles.items():
        if role in documents:
            found[file.name] = spell_document(file, documents[role])
    return found


def spell_document(file: DebateFile, document: Document) -> str:
    """What one role wrote, as its file."""
    head = [f"# {_words(file.name.partition('.')[0])}"]
    if option := document.get("option"):
        head.append(f"**Option:** {one_line(option)}")
    head += [
        f"## {name}\n\n{_spelled(name, document.get(field_of(name)))}".rstrip() for name in file.sections
    ]
    return "\n\n".join(head) + "\n"


def field_of(section: str) -> str:
    """The field of a document that a section is spelled from."""
    return "_".join(re.findall(r"[a-z]+", section.lower()))


def one_line(value: object) -> str:
    """Text of a model on one line, which no longer opens a comment or a tag."""
    return _COMMENT.sub("&lt;", " ".join(str(value if value is not None else "").split()))


def _spelled(section: str, value: Json) -> str:
    match section:
        case "Final Decision" if isinstance(value, dict):
            return _decision(value)
        case "Kill-Switch Criteria":
            return _kill_switches(value)
        case "Decision Criteria":
            return _criteria_table(value)
        case _:
            return _usual(value)


def _usual(value: Json) -> str:
    """A text, a list, a table or a few named texts."""
    match value:
        case dict():
            return "\n\n".join(f"**{_words(key)}:** {one_line(text)}" for key, text in value.items())
        case list() if value and all(isinstance(item, dict) for item in value):
            return _table([item for item in value if isinstance(item, dict)])
        case list():
            return _bullets([str(item) for item in value])
        case None:
            return ""
        case _:
            return paragraph(one_line(value))


def _table(rows: Sequence[Document]) -> str:
    rated = all({"probability", "impact"} <= row.keys() for row in rows)
    keys = list(dict.fromkeys(key for row in rows for key in row))
    columns = [_words(key) for key in keys] + (["Score"] if rated else [])
    cells = [
        [one_line(row.get(key)) for key in keys] + ([str(score_of(row))] if rated else []) for row in rows
    ]
    return spell_table(columns, cells).rstrip("\n")


def score_of(risk: Document) -> int:
    """Probability times impact, each from 1 to 3; 0 where one of them is not said."""
    return read_level(str(risk.get("probability", ""))) * read_level(str(risk.get("impact", "")))


def _decision(value: Document) -> str:
    option, decision = one_line(value.get("option")), one_line(value.get("decision"))
    if not option and not decision:
        return ""
    rationale = one_line(value.get("rationale"))
    first = f"**{option}:** {decision}" if option else paragraph(decision)
    return f"{first}\n\n**Rationale:** {rationale}" if rationale else first


def _kill_switches(value: Json) -> str:
    keys = ("condition", "threshold", "detection", "timeline", "fallback")
    found = tuple(
        KillSwitch(*(one_line(item.get(key)) for key in keys))
        for item in (value if isinstance(value, list) else [])
        if isinstance(item, dict)
    )
    spelled = spell_kill_switches(found)
    return f"**We will ABORT and reconsider if:**\n\n{spelled}" if spelled else ""


def _criteria_table(value: Json) -> str:
    rows = [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
    scores = [
        {one_line(each.get("option")): each.get("score") for each in objects(row, "scores")} for row in rows
    ]
    options = list(dict.fromkeys(option for row in scores for option in row))
    cells = [
        [
            one_line(row.get("criterion")),
            one_line(row.get("weight")),
            *(one_line(given.get(option)) for option in options),
        ]
        for row, given in zip(rows, scores, strict=True)
    ]
    return spell_table(["Criterion", "Weight", *options], cells).rstrip("\n") if cells else ""


def _bullets(items: Sequence[str]) -> str:
    return "\n".join(f"- {one_line(item)}" for item in items)


def paragraph(line: str) -> str:
    """A line of a model that begins nothing but a paragraph."""
    return f"\\{line}" if _MARKUP.match(line) else line


def _words(key: str) -> str:
    return key.replace("_", " ").capitalize()

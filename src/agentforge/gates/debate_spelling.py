"""The files of a debate, spelled from the documents that roles of ours hand in: a heading for each section
that the file must have, and below it what the field of that name holds.

What a model wrote is data: no word of it becomes a heading, a comment or another row.
"""

import re
from collections.abc import Mapping, Sequence

from agentforge.catalog.debates import DebateFile, DebateRules, debate_rules
from agentforge.core.reply import Json
from agentforge.documents import front_matter
from agentforge.documents.tables import spell_table
from agentforge.gates.debate_documents import KillSwitch, read_level, spell_kill_switches
from agentforge.gates.documents import objects, texts

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


def spell_plan(plan: Document, debate_id: str, phase: str = "debate", status: str = "pending") -> str:
    """The plan of a debate: what is to be decided, between what, and what is asked of each role."""
    rules = debate_rules()
    objective = one_line(plan.get("objective"))
    wanted = {"debate_id": debate_id, "phase": phase, "objective": objective, "status": status}
    known = [f"**Context:** {one_line(plan['context'])}"] if plan.get("context") else []
    known += (
        ["**No option may break this:**\n" + _bullets(texts(plan, "constraints"))]
        if plan.get("constraints")
        else []
    )
    sections = {
        "Objective": "\n\n".join([_paragraph(objective), *known]),
        "Options Under Consideration": "\n\n".join(
            f"### {_title(option.get('name'))}\n\n{_paragraph(one_line(option.get('description')))}"
            for option in objects(plan, "options")
        ),
        "Role Prompts": "\n\n".join(_role_prompt(role, file) for role, file in rules.roles.items()),
        "Expected Outputs": _bullets(
            [f"`{file.name}`: written by the {role}" for role, file in rules.roles.items()]
        ),
        "Completion Criteria": _bullets(_criteria(rules)),
    }
    body = "\n\n".join(f"## {name}\n\n{sections[name]}" for name in rules.plan.sections)
    return front_matter.changed(f"\n# Debate plan\n\n{body}\n", wanted)


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
            return _paragraph(one_line(value))


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
    first = f"**{option}:** {decision}" if option else _paragraph(decision)
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


def _role_prompt(role: str, file: DebateFile) -> str:
    waits = f" Wait until the files of {', '.join(file.after)} are complete." if file.after else ""
    sections = _bullets([f"`{name}`: {about}" for name, about in file.sections.items()])
    return f"### {role}\n\n{file.asks}{waits} Write `{file.name}` with these headings:\n\n{sections}"


def _criteria(rules: DebateRules) -> list[str]:
    return [
        f"every file is there, with {rules.least_characters} characters or more",
        f"`{rules.synthesis.name}` has the sections "
        + ", ".join(name for name in rules.synthesis.sections if name in rules.synthesis.blocking),
        "`Final Decision` names one of the options",
    ]


def _bullets(items: Sequence[str]) -> str:
    return "\n".join(f"- {one_line(item)}" for item in items)


def _paragraph(line: str) -> str:
    """A line that begins nothing but a paragraph."""
    return f"\\{line}" if _MARKUP.match(line) else line


def _title(value: object) -> str:
    return one_line(value).strip("# ")


def _words(key: str) -> str:
    return key.replace("_", " ").capitalize()

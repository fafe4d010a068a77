"""The gate of a debate: whether its five files are there, say what they must, and decide something.

It reads texts and nothing else, so whoever argued (models of ours, sessions of an orchestrator, people) is
judged alike. The same texts give the same verdict.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from agentforge.catalog.debates import DebateFile, DebateRules, debate_rules
from agentforge.core.reply import Json
from agentforge.documents.outline import MarkdownSection, body, content, is_titled, outline, visible
from agentforge.gates.debates.documents import (
    Option,
    Synthesis,
    chosen_option,
    is_blank,
    read_options,
    read_synthesis,
)

DebateStatus = Literal["none", "pending", "running", "complete", "unblocked"]
"""No plan yet; a plan, and whoever argues is awaited; files are being written; the gate passes; and what it
decided was taken over, so that its phase can complete.
"""


@dataclass(frozen=True, slots=True)
class DebateVerdict:
    """The faults in the files of a debate, and who has not handed in yet."""

    status: DebateStatus
    missing: tuple[str, ...] = ()
    """Files that are not there, or hold too little to be one."""
    incomplete_section: tuple[str, ...] = ()
    """Sections of the synthesis that block: not there, or empty."""
    decision_unclear: str = ""
    """Why nobody could say what was decided."""
    warnings: tuple[str, ...] = ()
    options: tuple[Option, ...] = ()
    synthesis: Synthesis = field(default_factory=Synthesis)

    @property
    def complete(self) -> bool:
        """Whether the gate passes."""
        return not (self.missing or self.incomplete_section or self.decision_unclear)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it does not pass, each by its name."""
        return (
            *(f"missing: {name}" for name in self.missing),
            *(f"incomplete_section: {name}" for name in self.incomplete_section),
            *((f"decision_unclear: {self.decision_unclear}",) if self.decision_unclear else ()),
        )

    def record(self) -> dict[str, Json]:
        """The verdict for programs."""
        return {
            "complete": self.complete,
            "status": self.status,
            "missing": list(self.missing),
            "incomplete_section": list(self.incomplete_section),
            "decision_unclear": self.decision_unclear or None,
            "warnings": list(self.warnings),
            "options": [option.name for option in self.options],
            "option": self.synthesis.option or None,
        }


def judge_debate(texts: Mapping[str, str], rules: DebateRules | None = None) -> DebateVerdict:
    """Judge the files of one debate, by their names. A file that is not in the mapping does not exist."""
    rules = rules or debate_rules()
    missing = tuple(file.name for file in rules.files if not _is_written(texts.get(file.name, ""), rules))
    options = read_options(texts.get(rules.plan.name, ""))
    text = texts.get(rules.synthesis.name, "")
    written = rules.synthesis.name not in missing
    incomplete = _missing_sections(text, rules.synthesis, rules.synthesis.blocking) if written else ()
    synthesis = read_synthesis(text, options) if written else Synthesis()
    if written and "Kill-Switch Criteria" not in incomplete and not _any_filled(synthesis):
        incomplete = (*incomplete, "Kill-Switch Criteria")
    unclear = ""
    if written and "Final Decision" not in incomplete:
        unclear = _unclear(text, options, rules)
    return DebateVerdict(
        status=_status(texts, missing, settled=not (incomplete or unclear), rules=rules),
        missing=missing,
        incomplete_section=incomplete,
        decision_unclear=unclear,
        warnings=tuple(_warnings(texts, missing, options, rules)),
        options=options,
        synthesis=synthesis,
    )


def _any_filled(synthesis: Synthesis) -> bool:
    return any(switch.is_filled for switch in synthesis.kill_switches)


def _is_written(text: str, rules: DebateRules) -> bool:
    return len(visible(body(text))) >= rules.least_characters


def _status(
    texts: Mapping[str, str], missing: tuple[str, ...], *, settled: bool, rules: DebateRules
) -> DebateStatus:
    """Where the debate is. One that was written to its end and does not hold waits again."""
    if not texts.get(rules.plan.name, "").strip():
        return "none"
    if not missing:
        return "complete" if settled else "pending"
    begun = any(texts.get(file.name, "").strip() for file in rules.roles.values())
    return "running" if begun else "pending"


def _missing_sections(text: str, file: DebateFile, wanted: frozenset[str]) -> tuple[str, ...]:
    """Sections that are not there as headings, or say nothing. An empty decision is unclear, not missing."""
    sections = outline(text)
    return tuple(
        name
        for name in file.sections
        if name in wanted and not _says_something(text, sections, name, even_empty=name == "Final Decision")
    )


def _says_something(
    text: str, sections: tuple[MarkdownSection, ...], name: str, *, even_empty: bool = False
) -> bool:
    return any(
        is_titled(section.title, name) and (even_empty or not is_blank(content(text, section)))
        for section in sections
    )


def _unclear(text: str, options: tuple[Option, ...], rules: DebateRules) -> str:
    """Why the final decision is none; empty if it is one."""
    section = next(each for each in outline(text) if is_titled(each.title, "Final Decision"))
    said = f"{section.title.partition(':')[2]}\n{visible(content(text, section))}".strip()
    if is_blank(said):
        return "Final Decision is empty"
    sentences = [each.strip() for each in re.findall(r"[^.!?]+[.!?]*", said) if re.search(r"\w", each)]
    if sentences and all(each.endswith("?") for each in sentences):
        return "Final Decision only asks a question"
    first = " ".join(re.findall(r"[\w']+", sentences[0].casefold())) if sentences else ""
    if any(first == word or first.startswith(f"{word} ") for word in rules.undecided):
        return "Final Decision leaves it open"
    if not options:
        return "the plan names no options that could be chosen"
    if chosen_option(said, options) is None:
        named = "; ".join(option.name for option in options)
        return (
            f"Final Decision takes none of the options, or more than one: {named}. Begin it with the name of "
            "the one that is taken"
        )
    return ""


def _warnings(
    texts: Mapping[str, str], missing: tuple[str, ...], options: tuple[Option, ...], rules: DebateRules
) -> list[str]:
    """What does not block and should be mended: sections that a file lacks, too few options."""
    found = []
    for file in rules.files:
        if file.name in missing:
            continue
        wanted = frozenset(file.sections) - file.blocking
        lacking = _missing_sections(texts[file.name], file, wanted)
        found += [f"{file.name} has no section `{name}` that says something" for name in lacking]
    if rules.plan.name not in missing and len(options) < rules.least_options:
        found.append(
            f"{rules.plan.name} names {len(options)} options; a debate has {rules.least_options} or more"
        )
    return found

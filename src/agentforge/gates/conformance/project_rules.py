"""What the rules of a project find. Patterns are searched for in a child, commands run behind walls; what a
rule found in a content is kept, like everything that checks read.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agentforge.catalog.project_checks import ProjectCheck
from agentforge.core.errors import UsageError
from agentforge.gates.conformance.declared import ProjectRules
from agentforge.gates.conformance.subject import CheckedProject, Hit
from agentforge.languages.patterns import is_searched, lines_matching, unavailable
from agentforge.languages.readings import FileReading, mark_of
from agentforge.languages.symbols import decode
from agentforge.store.user.code_facts import KeptFacts
from agentforge.system.globs import glob, matches_any

CommandAnswer = tuple[str, str]
"""What a command printed, and why it did not run; the latter is empty if it did."""
RunCommand = Callable[[ProjectCheck], CommandAnswer]
MOST_HITS = 500
_FOUND = re.compile(r"(?P<path>[^:\n]+):(?P<line>\d+)(?::\d+)?:\s*(?P<message>.+)")


@dataclass(frozen=True, slots=True)
class Source:
    """The files that rules of a project look into, and what may run."""

    contents: Mapping[str, str]
    load: Callable[[str], bytes | None]
    kept: KeptFacts | None = None
    run: RunCommand | None = None
    """None: commands do not run here."""

    def text(self, path: str) -> str:
        """A file as text; empty for one that is gone."""
        data = self.load(path)
        return "" if data is None else decode(data, path)


def about(rule: ProjectCheck, paths: Sequence[str]) -> list[str]:
    """The files among `paths` that a rule is about."""
    wanted, left = tuple(map(glob, rule.files)), tuple(map(glob, rule.excluded))
    return [
        path
        for path in paths
        if (not wanted or matches_any(wanted, path)) and not matches_any(left, path)
        if is_searched(rule.kind, path)
    ]


def found_by(
    rule: ProjectCheck, paths: Sequence[str], project: CheckedProject, source: Source | None
) -> list[Hit] | str:
    """What a rule finds in these files, or why it did not run."""
    match rule.kind:
        case "model":
            return "it is in words, and a reviewer is told"
        case "imports":
            return list(_imports(rule, paths, project))
        case "metric":
            return list(_metric(rule, paths, project))
        case _ if source is None:
            return "the texts of the files are not at hand"
        case "command":
            return _command(rule, paths, source)
        case _:
            return _pattern(rule, paths, source)


def check_examples(rules: ProjectRules) -> None:
    """Refuses a rule whose examples it does not tell apart. Called where a person can be told."""
    for rule in rules.own.values():
        examples: Mapping[str, Sequence[str]] = rule.data.get("examples") or {}
        if not examples or unavailable(rule.kind):
            continue
        suffix = next(
            (each.rpartition(".")[2] for each in rule.files if each.rpartition(".")[2].isalpha()), "py"
        )
        named = {
            f"{kind}/{at}.{suffix}": text for kind, texts in examples.items() for at, text in enumerate(texts)
        }
        found = lines_matching(rule.kind, rule.data.get("pattern", rule.data.get("rule")), named)
        if isinstance(found, str):
            raise UsageError(f"The check {rule.check.name}: {found}.")
        for path in named:
            kind = path.partition("/")[0]
            if bool(found.get(path)) != (kind == "failing"):
                end = "passes" if kind == "failing" else "fails"
                raise UsageError(
                    f"The check {rule.check.name}: its {kind} example {end}.",
                    "Correct the pattern or the example.",
                )


def _pattern(rule: ProjectCheck, paths: Sequence[str], source: Source) -> list[Hit] | str:
    if why := unavailable(rule.kind):
        return why
    keys = {path: f"rule:{rule.digest[:24]}:{source.contents[path]}" for path in paths}
    known = source.kept.get(list(dict.fromkeys(keys.values()))) if source.kept else {}
    new = {path: source.text(path) for path in paths if keys[path] not in known}
    if new:
        answer = lines_matching(rule.kind, rule.data.get("pattern", rule.data.get("rule")), new)
        if isinstance(answer, str):
            return answer
        rows = {path: [[line, _mark(new[path], line)] for line in answer.get(path, ())] for path in new}
        added = {keys[path]: json.dumps(found) for path, found in rows.items()}
        known = {**known, **added}
        if source.kept:
            source.kept.put(added)
    return [
        Hit(path, int(line), "", rule.check.description, str(mark))
        for path in paths
        for line, mark in _rows(known.get(keys[path], "[]"))
    ]


def _rows(text: str) -> list[Any]:
    try:
        found = json.loads(text)
    except ValueError:
        return []
    return found if isinstance(found, list) else []


def _mark(text: str, line: int) -> str:
    lines = text.splitlines()
    return mark_of(lines[line - 1]) if 0 < line <= len(lines) else ""


def _imports(rule: ProjectCheck, paths: Sequence[str], project: CheckedProject) -> Iterator[Hit]:
    names = [name for name in rule.data["forbid"] if "/" not in name]
    places = tuple(glob(name) for name in rule.data["forbid"] if "/" in name)
    for path in paths:
        told: set[int] = set()
        for item in project.readings[path].imports:
            whole = f"{item.module}.{item.name}" if item.name else item.module
            used = next((name for name in names if f"{whole}.".startswith(f"{name}.")), None)
            targets = project.modules.targets(path, item) if places else ()
            used = used or next((target for target in targets if matches_any(places, target)), None)
            if used is not None and item.line not in told:
                told.add(item.line)
                yield Hit(path, item.line, "", f"{rule.check.description}: `{used}` is imported", item.mark)


def _metric(rule: ProjectCheck, paths: Sequence[str], project: CheckedProject) -> Iterator[Hit]:
    limit, metric = int(rule.data["limit"]), str(rule.data["metric"])
    for path in paths:
        for line, symbol, mark, value in _measured(project.readings[path], metric):
            if value > limit:
                message = f"{rule.check.description}: {value}, and {limit} is the limit"
                yield Hit(path, line, symbol, message, mark, value)


def _measured(reading: FileReading, metric: str) -> Iterator[tuple[int, str, str, int]]:
    if metric == "lines":
        yield 1, "", "", reading.lines
    elif metric == "line_length":
        yield from ((each.line, "", each.mark, each.length) for each in reading.long_lines)
    else:
        for each in reading.functions:
            yield each.line, each.name, "", each.ways if metric == "complexity" else each.lines


def _command(rule: ProjectCheck, paths: Sequence[str], source: Source) -> list[Hit] | str:
    if source.run is None:
        return "commands do not run here"
    printed, why = source.run(rule)
    if why:
        return why
    wanted = frozenset(paths)
    hits = []
    for line in printed.splitlines()[:MOST_HITS]:
        if (found := _FOUND.fullmatch(line.strip())) is not None:
            path = found["path"].removeprefix("./")
            if path in wanted:
                text = source.text(path)
                hits.append(
                    Hit(path, int(found["line"]), "", found["message"][:300], _mark(text, int(found["line"])))
                )
    return hits

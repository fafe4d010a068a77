"""What can be counted in a file by its grammar, whatever language it is in; nothing without the extra
`code`.
"""

import difflib
import json
from collections import Counter
from collections.abc import Collection

from agentforge.languages.grammars import reader
from agentforge.languages.grammars.probes import probes_of, still_lines
from agentforge.languages.grammars.table import Grammar, grammar_of
from agentforge.languages.grammars.typed import MAKES_AN_OBJECT, TYPED
from agentforge.languages.values import ChangedCode, ChangedValue


def complexity(text: str, path: str) -> dict[str, int]:
    """How many ways lead through each function, by its dotted name."""
    grammar = grammar_of(path)
    found = reader.branches(text, grammar) if grammar else None
    if grammar is None or found is None:
        return {}
    counts = {name: 1 for name, _, _ in _functions(text, grammar)}
    for line in found:
        inside = [row for row in _functions(text, grammar) if row[1] <= line <= row[2]]
        if inside:
            counts[min(inside, key=lambda row: row[2] - row[1])[0]] += 1
    return counts


def can_read(path: str) -> bool:
    """Whether there is a grammar for a file like this, and somebody who reads it."""
    grammar = grammar_of(path)
    return grammar is not None and reader.branches("", grammar) is not None


def same_code(before: str, after: str, path: str) -> bool:
    """Whether two texts have the same words, comments and formatting aside."""
    grammar = grammar_of(path)
    then, now = (reader.leaves(text, grammar) if grammar else None for text in (before, after))
    return (
        then is not None and now is not None and [leaf.text for leaf in then] == [leaf.text for leaf in now]
    )


def changed_code(before: str, after: str, path: str) -> ChangedCode | None:
    """The functions that are new or different, and the lines of code that are; None where that cannot be
    read. What lies outside of functions is lines, too: who loads the file runs it.
    """
    grammar = grammar_of(path)
    then, now = (reader.leaves(text, grammar) if grammar else None for text in (before, after))
    if grammar is None or then is None or now is None:
        return None
    lines = _new_lines(then, now)
    functions = _functions(after, grammar)
    changed = {name for name, start, end in functions if any(start <= line <= end for line in lines)}
    old, new = _bodies(before, then, grammar), _bodies(after, now, grammar)
    shorter = {name for name, words in new.items() if name in old and words != old[name]} - changed
    ranges = [(start, end) for name, start, end in functions if name in shorter]
    lines |= {leaf.line for leaf in now if any(start <= leaf.line <= end for start, end in ranges)}
    return ChangedCode(tuple(sorted(changed | shorter)), frozenset(lines), _unseen(after, path, lines))


def statements(text: str, path: str) -> frozenset[int]:
    """The lines that can be seen to run; none where that cannot be read."""
    return frozenset().union(*(probe.lines for probe in probes_of(text, path) or ()))


def _unseen(text: str, path: str, lines: set[int]) -> tuple[ChangedValue, ...]:
    """What changed where no line can be seen to run: outside of functions, or written by a macro."""
    if lines <= statements(text, path) | still_lines(text, path):
        return ()
    return (ChangedValue("what stands outside of functions", frozenset(), read=True),)


def emptied(
    text: str, path: str, functions: Collection[str], *, answer: bool, always: bool = False
) -> str | None:
    """The file with the bodies of these functions emptied, from its end on or `always`; None where the
    language says what a function must give back, or that cannot be read.
    """
    grammar = grammar_of(path)
    bodies = reader.bodies(text, grammar) if grammar is not None else None
    if grammar is None or not bodies:
        return None
    chosen = _chosen(bodies, functions)
    if grammar.name in TYPED:
        return _ended_early(text, chosen, grammar.name, answer=answer)
    if not grammar.empty_body or not chosen:
        return None
    instead = grammar.empty_body.replace("ANSWER", "true" if answer else "false").encode()
    written = text.encode()
    loaded = f"globalThis[Symbol.for({json.dumps(f'loaded: {path}')})]"
    for body in reversed(chosen):
        was = written[body.start : body.end]
        rest = was if was.startswith(b"{") else b"return (" + was + b");"
        once_loaded = f"{{ if ({loaded}) ".encode() + instead + b"\n" + rest + b" }"
        written = written[: body.start] + (instead if always else once_loaded) + written[body.end :]
    return written.decode() + ("" if always else f"\n;{loaded} = true;\n")


def _ended_early(text: str, chosen: list[reader.Body], name: str, *, answer: bool) -> str | None:
    """The file in which these functions give back a plain value at once. What makes an object stays as it is.
    None where a type is not known; with the answer that is not plain, also where anything stays.
    """
    end_with, early = TYPED[name]
    does = [body for body in chosen if body.result not in MAKES_AN_OBJECT]
    ends = [end for body in does if (end := end_with(body.result, answer=answer)) is not None]
    if not ends or len(ends) < len(does) or (answer and len(does) < len(chosen)):
        return None
    written = text.encode()
    for body, end in reversed([*zip(does, ends, strict=True)]):
        at = body.start + 1
        written = written[:at] + (early % end).encode() + written[at:]
    return written.decode()


def _chosen(bodies: list[reader.Body], functions: Collection[str]) -> list[reader.Body]:
    """The bodies of these functions; a second one of a name has a mark."""
    seen: Counter[str] = Counter()
    chosen = []
    for body in bodies:
        name = body.name + "#" * seen[body.name]
        seen[body.name] += 1
        chosen += [body] if name in functions else []
    return chosen


def _functions(text: str, grammar: Grammar) -> list[tuple[str, int, int]]:
    """Name and lines of each function; two of a name are told apart by a mark."""
    seen: Counter[str] = Counter()
    found = []
    for symbol in reader.symbols(text, grammar) or ():
        if symbol.kind in ("function", "method"):
            found.append((symbol.name + "#" * seen[symbol.name], symbol.start, symbol.end))
            seen[symbol.name] += 1
    return found


def _bodies(text: str, leaves: list[reader.Leaf], grammar: Grammar) -> dict[str, list[str]]:
    return {
        name: [leaf.text for leaf in leaves if start <= leaf.line <= end]
        for name, start, end in _functions(text, grammar)
    }


def _new_lines(then: list[reader.Leaf], now: list[reader.Leaf]) -> set[int]:
    """Lines of the new text with words that the old one does not have there."""
    old, new = _by_line(then), _by_line(now)
    matcher = difflib.SequenceMatcher(
        None, [words for _, words in old], [words for _, words in new], autojunk=False
    )
    return {
        new[place][0]
        for kind, _, _, start, end in matcher.get_opcodes()
        if kind != "equal"
        for place in range(start, end)
    }


def _by_line(leaves: list[reader.Leaf]) -> list[tuple[int, tuple[str, ...]]]:
    found: dict[int, list[str]] = {}
    for leaf in leaves:
        found.setdefault(leaf.line, []).append(leaf.text)
    return [(line, tuple(words)) for line, words in found.items()]

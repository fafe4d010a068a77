"""What the words of a request say by themselves that a call or a message must be: `net(100, 10)` gives 90.

A test may expect whatever the change gives; the request was there before both. Its examples are called where
no test is, and what comes out otherwise is shown; so is a message that it quotes and no new test does.
"""

import ast
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from agentforge.gates.flags import Flag
from agentforge.languages.outcomes import CalledElsewhere, SeenCall

MOST = 10
_CALL = re.compile(r"(?<![\w.])([A-Za-z_]\w*)\(")
_MODAL = r"`?\s*,?\s*(?:must|should|shall|ought to|has to|needs to|is to|to)?\s*(?:also |now |still )?"
_SAYS = re.compile(
    rf"{_MODAL}(?:returns?|gives?|yields?|produces?|equals?|is|be|becomes?|evaluates? to|==|=>|->|→|=)\s*"
    r"(?:equal to )?`?"
)
_RAISES = re.compile(
    rf"{_MODAL}(?:raises?|throws?)\s*(?:an? |the )?`?([A-Z]\w*(?:Error|Exception|Warning))\b"
)
_OTHERWISE = re.compile(
    r"\b(?:currently|at present|today|now returns|now gives|actual(?:ly)?|got|instead|but|wrong(?:ly)?|"
    r"rather|expected|broken|bug|unless|used to|before|if|when|not|never|for example|e\.g)\b",
    re.IGNORECASE,
)
"""Words beside which an example may say what is wrong, or holds only under a condition."""
_SENTENCE = re.compile(r"(?<=[;!?])\s+|(?<=\.)\s+|\n+")
_QUOTED = re.compile(
    r"\b(?:message|saying|says?|said|prints?|text|reads|tells?|logs?|warns?|warning|displays?|shows?|outputs?)\b"
    r"(?:\W+(?:that|with|the|a|an|text|words?|message|user|it|is|be|as|of|error|line)\b){0,3}\W{1,3}?"
    r"[\"“'`]([^\"”'`\n]{6,120})[\"”'`]",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Example:
    """A call that a request speaks of, and what it must give."""

    call: SeenCall
    wanted: str
    shown: str


def examples_in(request: str, functions: Mapping[str, Collection[str]]) -> list[Example]:
    """The examples of a request that call one of these functions, which are told by file."""
    files = {name: file for file, names in functions.items() for name in names}
    found: list[Example] = []
    for sentence in _SENTENCE.split(request):
        for match in _CALL.finditer(sentence):
            if match[1] in files and _OTHERWISE.search(sentence) is None:
                found += _example(sentence[match.start() :], match[1], files[match[1]])
    return list({example.call.given: example for example in found}.values())[:MOST]


def _example(text: str, name: str, file: str) -> list[Example]:
    """The example that a text begins with."""
    for end in (place for place, letter in enumerate(text) if letter == ")"):
        given = _arguments(text[: end + 1])
        if given is None:
            continue
        rest = text[end + 1 :]
        call, shown = SeenCall(file, name, given, None), text[: end + 1]
        if raised := _RAISES.match(rest):
            return [Example(call, f"raises {raised[1]}", shown)]
        if (says := _SAYS.match(rest)) and (value := _value(rest[says.end() :])) is not None:
            return [Example(call, f"gives {value}", shown)]
        return []
    return []


def _arguments(text: str) -> str | None:
    """The arguments of a call, by place and by name, as text; None where they are no plain values."""
    try:
        node = ast.parse(text, mode="eval").body
        if not isinstance(node, ast.Call) or any(word.arg is None for word in node.keywords):
            return None
        by_place = [ast.literal_eval(each) for each in node.args]
        by_name = {str(word.arg): ast.literal_eval(word.value) for word in node.keywords}
    except (SyntaxError, ValueError, RecursionError):
        return None
    return repr([by_place, by_name])


def _value(text: str) -> str | None:
    """The plain value that a text begins with, the longest there is."""
    for end in sorted(
        {match.end() for match in re.finditer(r"[\w\])}\"'](?=$|[\s.,;`])", text)}, reverse=True
    ):
        try:
            return repr(ast.literal_eval(text[:end].strip("` ")))
        except (SyntaxError, ValueError, RecursionError):
            continue
    return None


def contradicted(examples: Sequence[Example], found: Sequence[CalledElsewhere]) -> Iterator[Flag]:
    """Examples that come out otherwise than the request says."""
    seen = {each.call: each for each in found}
    for example in examples:
        each = seen.get(example.call)
        if each is None or each.seen[0].startswith("cannot"):
            continue
        gives, before = (told.rpartition(" after ")[0] or told for told in (each.seen[0], each.before))
        if not (_meets(gives, example.wanted) or _meets(before, example.wanted)):
            told = f"the request says that `{example.shown}` {example.wanted}, and it {gives}"
            yield Flag(f"{example.call.file}::{example.call.name}", told, ruling=True)


def _meets(gives: str, wanted: str) -> bool:
    """Whether it gives that; a kind of error may be a nearer one."""
    if gives == wanted:
        return True
    if wanted.startswith("raises"):
        return gives.startswith("raises")
    try:
        return bool(
            ast.literal_eval(gives.removeprefix("gives ")) == ast.literal_eval(wanted.removeprefix("gives "))
        )
    except (SyntaxError, ValueError):
        return False


def unsaid(request: str, tests: Mapping[str, str]) -> Iterator[Flag]:
    """Messages that a request quotes, and that no file of the new tests has."""
    texts = [_words_of(text) for text in tests.values()]
    for match in _QUOTED.finditer(request):
        quoted = match[1].strip()
        pieces = [_words_of(piece) for piece in re.split(r"[{<%\[][^\s]*|\.\.\.|…|\d+", quoted)]
        telling = [piece for piece in pieces if len(piece) > 2]
        if " " in quoted and telling and not any(all(piece in text for piece in telling) for text in texts):
            path = min(tests, default="")
            yield Flag(path, f"the request says '{quoted}', and no new test does", ruling=False)


def _words_of(text: str) -> str:
    """A text by its letters and digits alone: however it is escaped or broken, it is the same."""
    return re.sub(r"[\W_]+", "", text).lower()

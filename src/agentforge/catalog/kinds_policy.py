"""`policies/kinds.yaml` as a value: the words by which a request asks for a kind of proof."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from agentforge.catalog.policies import check_keys, each_once, one_of, read_policy, words, words_by_name
from agentforge.catalog.translated import Translation
from agentforge.core.kinds import PROOF_KINDS, ProofKind
from agentforge.system.globs import Glob, glob

NoCode = Literal["document", "ci", "settings", "data"]
"""Files that are no code, by what they are for."""
_ENDS_PHRASE = (
    r"(?=$|[\s]*[.,;:!?()\]]|\s+(?:in|on|of|for|to|at|about|that|which|from|with|above|below|by|under|near|so|"
    r"and|or|where|when|as|is|are|was|were|has|have|until|between|into|than|used|everywhere|again|too|"
    r"explaining|describing|covering|"
    r"accordingly|there|here|how|why|what|also|please|if)\b)"
)
NEVER = "(?!)"
"""What matches nothing: such a verb says the kind only beside something of that kind."""


@dataclass(frozen=True, slots=True)
class KindsPolicy:
    """`policies/kinds.yaml`, ready to be matched."""

    polite: frozenset[str]
    verbs: Mapping[str, ProofKind]
    only_about: Mapping[str, re.Pattern[str]]
    """Verbs that also say what a program does, and the words beside which they say the kind."""
    phrases: Mapping[ProofKind, re.Pattern[str]]
    """What a clause says as a whole."""
    prefixes: Mapping[str, ProofKind]
    """How the subject of a commit begins."""
    labels: frozenset[str]
    """How one begins whose rest is read."""
    acts: frozenset[str]
    """What a program does."""
    neutral: frozenset[str]
    edits: frozenset[str]
    """Neutral verbs whose place may say what they are about."""
    articles: frozenset[str]
    nouns: frozenset[str]
    """Words that end like a verb and are none."""
    things: Mapping[ProofKind, re.Pattern[str]]
    places: Mapping[ProofKind, re.Pattern[str]]
    project: frozenset[str]
    """What of a project itself a thing may be of, in or for."""
    certain: re.Pattern[str]
    """Words of things that only a project has."""
    happens: re.Pattern[str]
    """Words for what happens while a program runs."""
    behaviour: re.Pattern[str]
    same_as: Mapping[str, str]
    """What is said in several words, and the one word for it."""
    translations: tuple[Translation, ...]
    """Other languages, as far as plain requests need them."""
    context: re.Pattern[str]
    unchanged: re.Pattern[str]
    """How a person says that nothing but code changes."""
    wishes: re.Pattern[str]
    """Sentences that wish for something, with that in a group."""
    statements: Mapping[ProofKind, re.Pattern[str]]
    """What such a sentence is about, where a pronoun says what is to be done."""
    reasons: re.Pattern[str]
    """What may follow a comma and only tells why."""
    less_will_do: re.Pattern[str]
    """How an answer says that less will do than the request asks for."""
    weakens_tests: re.Pattern[str]
    dead_code: re.Pattern[str]
    test_settings: re.Pattern[str]
    packaging: re.Pattern[str]
    """Words of a request that is about how the project is packaged."""
    form: re.Pattern[str]
    observable: frozenset[str]
    paths: Mapping[NoCode, tuple[Glob, ...]]


@cache
def kinds_policy() -> KindsPolicy:
    """The policy, read when first asked for."""
    return kinds_from(read_policy("kinds"))


def kinds_from(document: Any) -> KindsPolicy:  # noqa: ANN401  a document is any YAML
    """The policy of a document: no key without a meaning, no verb with two."""
    where = "kinds.yaml"
    check_keys(where, document, KindsPolicy.__dataclass_fields__)
    by_kind = words_by_name(f"{where}: verbs", document["verbs"])
    check_keys(f"{where}: verbs", by_kind, PROOF_KINDS)
    all_verbs = words(where, " ".join([*document["verbs"].values(), document["neutral"]]))
    verbs = {verb: kind for kind in PROOF_KINDS for verb in by_kind.get(kind, ()) if verb in all_verbs}
    prefixes = words_by_name(f"{where}: prefixes", document["prefixes"])
    check_keys(f"{where}: prefixes", prefixes, PROOF_KINDS)
    check_keys(f"{where}: phrases", document["phrases"], PROOF_KINDS)
    return KindsPolicy(
        polite=words(f"{where}: polite", document["polite"]),
        verbs=verbs,
        only_about=dict(each_once(f"{where}: only_about", _only_about(document["only_about"], all_verbs))),
        phrases={kind: one_of(rows) for kind, rows in document["phrases"].items()},
        prefixes={word: kind for kind in PROOF_KINDS for word in prefixes.get(kind, ())},
        labels=words(f"{where}: labels", document["labels"]),
        acts=words(f"{where}: acts", document["acts"]),
        neutral=words(f"{where}: neutral", document["neutral"]),
        edits=words(f"{where}: edits", document["edits"]),
        articles=words(f"{where}: articles", document["articles"]),
        nouns=words(f"{where}: nouns", document["nouns"]),
        things=_by_kind(document["things"], _ENDS_PHRASE),
        places=_by_kind(document["places"], _ENDS_PHRASE),
        project=words(f"{where}: project", document["project"]),
        certain=_whole_words(document["certain"]),
        happens=_whole_words(document["happens"]),
        behaviour=_whole_words(document["behaviour"]),
        same_as=document["same_as"],
        translations=tuple(_language(row, all_verbs) for row in document["translations"].values()),
        context=one_of(document["context"]),
        unchanged=_whole_words(document["unchanged"]),
        wishes=re.compile("|".join(document["wishes"])),
        statements={kind: one_of(rows) for kind, rows in document["statements"].items()},
        reasons=one_of(document["reasons"]),
        less_will_do=_whole_words(document["less_will_do"]),
        dead_code=_whole_words(document["dead_code"]),
        test_settings=_whole_words(document["test_settings"]),
        packaging=_whole_words(document["packaging"]),
        form=_whole_words(document["form"]),
        weakens_tests=_whole_words(document["weakens_tests"]),
        observable=words(f"{where}: observable", document["observable"]),
        paths={name: tuple(map(glob, globs)) for name, globs in document["paths"].items()},
    )


def _language(row: Mapping[str, Any], verbs: frozenset[str]) -> Translation:
    return Translation(row["words"], verbs, words("kinds.yaml: translations", row["that"]))


def _only_about(
    rows: Iterable[Mapping[str, Any]], known: frozenset[str]
) -> Iterator[tuple[str, re.Pattern[str]]]:
    """Each verb of the rows, with what it has to stand beside. Every one is among the verbs of a kind."""
    for row in rows:
        verbs = words("kinds.yaml: only_about", row["verbs"])
        check_keys("kinds.yaml: only_about", verbs, known)
        pattern = _whole_words(row["words"]) if row["words"] else re.compile(NEVER)
        yield from ((verb, pattern) for verb in verbs)


def _by_kind(rows: Mapping[ProofKind, Iterable[str]], end: str) -> dict[ProofKind, re.Pattern[str]]:
    return {
        kind: re.compile(rf"(?<![\w./-])(?:{one_of(patterns).pattern}){end}")
        for kind, patterns in rows.items()
    }


def _whole_words(patterns: Iterable[str]) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-])(?:{one_of(patterns).pattern})(?![\w-])")

"""What a request asks for: which kind of proof its words allow, and which files are no code. Pure, and data.

A role's own framing has no say here: only the words of the person who asked.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

from agentforge.catalog.kinds_policy import NEVER, KindsPolicy, NoCode, kinds_policy
from agentforge.core.kinds import PROOF_KINDS, ProofKind
from agentforge.system.globs import matches_any

_SENTENCE = re.compile(r"(?<=[.;:!?])\s+|\n+|\s+-\s+")
_PREPOSITION = re.compile(r"^(.*)\b(in|to|of|from|into|on)\s+(?:the\s+|our\s+)?$")
_OF_DATA = re.compile(r"\.(?:json|csv|tsv|ya?ml|toml|cfg|ini)$")
_TAKES_AWAY = re.compile(r"\b(?:remove|delete|drop)\b")
_REFERENCE = re.compile(
    r"\(?\b(?:(?:fix(?:e[sd])?|close[sd]?|resolve[sd]?|refs?|see|issue)\s+)?"
    r"(?:(?<!\w)#\d+|gh-\d+|https?://\S+/(?:issues|pull)/\d+)\)?\s*(?:[:.,-]\s*)?",
    re.IGNORECASE,
)
"""A number of an issue, with the word that closes it: it says nothing of what is asked for."""
_BREAKS = frozenset(
    {"to", "that", "which", "for", "of", "in", "when", "if", "with", "from", "and", "or", "not", "support"}
)
"""Words after which something else is spoken of."""
_PRONOUNS = frozenset({"it", "them", "this", "that", "these", "those", "some", "one", "accordingly"}) | {
    "everywhere",
    "deterministic",
    "stable",
    "reliable",
}
"""What a clause may consist of, beside its verb, that speaks of what was said before."""
_SPEAKS_OF_IT = re.compile(
    r"(?:it|them|this|these|those)(?: (?:for|in|with|from|before) v?\d[\w.]*)?"
    r"(?: (?:including|together with|along with|with|and)"
    r" (?:(?:the|its|their|and|tests?|stubs?|docs?|documentation|exports?) ?)+)?"
)
"""Such a clause, too: "remove it for 4.0, including the stub and its test"."""
_WORD = re.compile(r"[\w'`./-]+")
_CODE_NAME = re.compile(
    r"(?<![\w./-])(?:\w+(?:_\w+)+|_\w+|(?:[\w-]+/)+[\w.-]*|\w+(?:\.\w+)+|[A-Z][a-z0-9]+(?:[A-Z]\w*)+|\w+(?=\(\)))"
    r"|(?<=`)[\w.]+(?=`)"
)
"""Names as code has them: `snake_case`, a path, a dotted name, `CamelCase`, `called()`, one in backticks."""
_SUBJECT = re.compile(r"\s*`?([a-z.][\w./-]*)`?(?:\([^)\n]*\)| --?[\w-]+| [a-z]{1,4}\d{2,4})?!?:\s+\S[^\n]*")
_SHOWN = re.compile(
    r"^```.*?^```[^\n]*$"
    r"|^(?: {4}|\t)(?!\s*(?:[-*+]|\d+[.)])\s)[^\n]*$"
    r"|^\s*>>>[^\n]*$"
    r"|^Traceback \(most recent call last\):$"
    r"|^\s*File \"[^\"\n]*\", line \d+[^\n]*$"
    r"|(?<![\w./-])[\w./-]+\.\w+:\d+(?::\d+)?:[^\n]*$"
    r"|(?<=\bsay:) [^\n]*",
    re.MULTILINE | re.DOTALL,
)
"""Code, a traceback, what a tool printed: it shows something, and asks for nothing."""
_QUOTATION = re.compile(
    r"\"[^\"\n]+ [^\"\n]+ [^\"\n]+\"|(?<!\w)'[^'\n]+ [^'\n]+ [^'\n]+'(?!\w)"
    r"|\u00ab[^\u00bb\n]+ [^\u00bb\n]+\u00bb"
)
"""Words of somebody else, or of a document."""
_ASIDE = re.compile(r"\([^()]*\)[.!]?")
_TAIL = re.compile(r"\s*(?:,|;|\s--|\s-|\s\u2013|\s\u2014)\s+(?=\S)")
"""What a reason may stand behind."""
_ASKS_NOTHING = re.compile(
    r"[\W\d]*|[\"'\u201c\u2018\u00ab][^\"'\u201d\u2019\u00bb]*[\"'\u201d\u2019\u00bb]\.?"
)
"""The number of a point, and words that are only quoted."""
_INTRODUCES = re.compile(r"(?:[\w'-]+ ){0,3}[\w'-]+:")
"""What stands before a list."""
_BESIDE = re.compile(r"^\s*(?:,|and,?|plus|as well as|along with|together with)\s+(?P<more>.+)")
_CIRCUMSTANCE = re.compile(r"\s(?:in|on|from|with|by|when|before|after|at|during|while|for|if)\s")
"""After such a word a clause tells where and when, and no longer what."""
_WHOSE = re.compile(
    r"\s+(?:to|from|of|in|on|at|into|inside)\s+((?:(?!to\b|from\b|of\b|in\b|into\b|on\b|at\b|for\b|with\b|by\b|so\b|and\b|"
    r"or\b|that\b|which\b|when\b|as\b|is\b|are\b|if\b|where\b)[^\s,;:!?]+\s*)+)"
)
"""What a thing belongs to, or is put into."""
_PLURAL = re.compile(r"\w{2,}[^s]s")
_NO_PROGRAM: frozenset[NoCode | None] = frozenset({"document", "ci", "settings"})
_DETERMINER = r"(?:it|them|this|these|those|the|an?|all|any|every|each|its|their|none|null|no|empty|only)"


@dataclass(frozen=True, slots=True)
class AskedFor:
    """What a request asks to be proved, and by which of its words."""

    kind: ProofKind
    words: str = ""
    """The words that say so; empty where nothing says otherwise than new behaviour."""
    weakens_tests: str = ""
    """The words that ask for fewer or weaker tests."""
    dead_code: bool = False
    """It is about code that nothing uses."""
    settings: bool = False
    """It is about how tests run: markers, options, settings of the runner."""
    form: bool = False
    """It is about how code is laid out, so that this may be all that changes."""


@lru_cache(maxsize=16)  # every step of a task asks it several times, of the same words
def asked_for(request: str) -> AskedFor:
    """The strongest kind that one of the clauses of a request asks for."""
    policy = kinds_policy()
    names = names_in(request)
    request = _without_references(request, policy)
    whole, request = request, _in_words(request)
    said = request.lower()
    subject = _of_subject(said, policy)
    clauses = [*_clauses(request if subject is None else request.partition("\n")[2])]
    found = [answer for clause in clauses if (answer := _of_clause(clause, names, policy)) is not None]
    found += [] if subject is None else [subject]
    found = found or _of_statements(clauses, policy)
    weakens = policy.weakens_tests.search(whole.lower())
    stays = policy.unchanged.search(said)
    if stays is not None and policy.behaviour.search(said) is None:
        found = [("same_behaviour", stays[0])]
    kind, by = max(found, key=lambda answer: PROOF_KINDS.index(answer[0]), default=("new_behaviour", ""))
    return AskedFor(
        kind,
        as_written(by, whole),
        as_written(weakens[0], whole) if weakens else "",
        dead_code=policy.dead_code.search(said) is not None,
        settings=policy.test_settings.search(said) is not None,
        form=policy.form.search(said) is not None,
    )


def _in_words(request: str) -> str:
    """A request without what it only shows; as it stands if nothing else is left."""
    rest = _QUOTATION.sub('""', _SHOWN.sub("", request))
    return rest if _WORD.search(rest) else request


def _without_references(request: str, policy: KindsPolicy) -> str:
    """A request without the numbers of issues and without a label such as `chore:`; as it stands if nothing
    else is left.
    """
    rest = _REFERENCE.sub("", request)
    label = _SUBJECT.match(rest.lower())
    if label is not None and label[1] in policy.labels:
        rest = rest.partition(":")[2]
    return rest if rest.strip(" .,:;!?()") else request


def names_in(text: str) -> frozenset[str]:
    """The words of a text that are written as code has its names, in lower case."""
    return frozenset(map(str.lower, _CODE_NAME.findall(text)))


def plain_verbs() -> frozenset[str]:
    """The words by which requests say what is to be done."""
    policy = kinds_policy()
    return policy.neutral | policy.polite | policy.acts | policy.verbs.keys()


def lowered_to(answer: str) -> ProofKind | None:
    """The weaker kind that will do by the words of an answer to a question; None if they say nothing of it.

    That something weaker is wanted *too* ("update the README") lowers nothing.
    """
    less = kinds_policy().less_will_do.search(answer.lower())
    kind = asked_for(answer).kind
    return kind if less is not None and kind != "new_behaviour" else None


def as_written(words: str, request: str) -> str:
    """Words that were read in lower case and without backticks, as the request has them."""
    spelled = r"\s+".join("`*".join(map(re.escape, word)) for word in words.split())
    spelled = spelled.replace('"`*"', "[\"'\u00ab][^\\n]*?[\"'\u00bb]")  # a quotation
    if spelled and (whole := re.search(rf"`*{spelled}`*", request, re.IGNORECASE)) is not None:
        return " ".join(whole[0].split())
    if " " not in words:
        return words
    return " ".join(as_written(word, request) for word in words.split())


def what_kind_of_file(path: str) -> NoCode | None:
    """What a file that is no code is for; None for one that may be code, and for everything unknown."""
    return next((name for name, globs in kinds_policy().paths.items() if matches_any(globs, path)), None)


def shows_result(request: str) -> bool:
    """Whether a request says something that can be seen afterwards: a result, a value, a word for one."""
    said = {word.strip("`'./-") for word in _WORD.findall(request.lower())}
    return bool(said & kinds_policy().observable) or bool(re.search(r"[`\"“'(]\S|\d|\w_\w|\w\.\w", request))


# ------------------------------------------------------------------ clauses


@cache
def _joint() -> re.Pattern[str]:
    """What joins two parts of a sentence, if the second begins with a verb."""
    policy = kinds_policy()
    verbs = "|".join(sorted(map(re.escape, (*policy.verbs, *policy.neutral)), key=len, reverse=True))
    polite = "|".join(map(re.escape, policy.polite))
    acts = rf"(?:{'|'.join(map(re.escape, policy.acts))})\s+{_DETERMINER}"
    begins = rf"(?:(?:{polite})\s+)*(?:{verbs}|{acts})\b(?!\s*[=(/])"
    return re.compile(rf"(?:,|\band\b|\bthen\b|\bbut\b)\s+(?={begins})")


def _clauses(request: str) -> Iterator[str]:
    """Sentences, and parts of one that begin with a verb of their own."""
    joint = _joint()
    said = request.lower().replace("`", "")
    for several, word in kinds_policy().same_as.items():
        said = said.replace(several, word)
    for sentence in _SENTENCE.split(said):
        parts = (_without_reason(part.strip(" ,-*#\t")) for part in joint.split(sentence))
        yield from (part for part in parts if part and _ASKS_NOTHING.fullmatch(part) is None)


def _without_reason(clause: str) -> str:
    """A clause without what only tells why: "remove six, we don't use it any more"."""
    policy = kinds_policy()
    for tail in _TAIL.finditer(clause):
        rest = clause[tail.end() :]
        told = "," not in rest and policy.reasons.fullmatch(rest.rstrip(".!")) is not None
        if told and policy.behaviour.search(rest) is None:
            return clause[: tail.start()]
    return clause


def _of_subject(said: str, policy: KindsPolicy) -> tuple[ProofKind, str] | None:
    """What a first line asks for that begins as the subject of a commit does."""
    subject = _SUBJECT.match(said)
    if subject is None:
        return None
    kind = policy.prefixes.get(subject[1])
    begins = next(iter(_WORD.findall(subject[0].partition(":")[2])), "")
    known = begins in policy.neutral or begins in policy.verbs
    if kind is None and known and what_kind_of_file(subject[1]) in _NO_PROGRAM:
        kind = "no_code"
    if kind is None:
        return None
    wanted = policy.behaviour.search(subject[0]) if kind == "same_behaviour" else None
    return ("new_behaviour", wanted[0]) if wanted else (kind, subject[1])


def _of_clause(clause: str, names: frozenset[str], policy: KindsPolicy) -> tuple[ProofKind, str] | None:
    """What a clause asks for, with the words that say so; None for one that asks for nothing. `names` are
    those of code in the whole request.
    """
    if (wish := policy.wishes.fullmatch(clause.rstrip(".!"))) is not None:
        clause = f"add {next(part for part in wish.groups() if part)}"
    said = [word.strip(".,:;'") for word in _WORD.findall(clause)]
    rest = [word for word in said if word not in policy.polite]
    # `split()` is a name, and does nothing here.
    verb = rest[0] if rest and not re.search(rf"\b{re.escape(rest[0])}\s?[(=]", clause) else ""
    speaks_of_it = _SPEAKS_OF_IT.fullmatch(" ".join(rest[1:])) is not None
    speaks_of_it = speaks_of_it or (bool(rest[1:]) and set(rest[1:]) <= _PRONOUNS)
    if speaks_of_it and (verb in policy.neutral or policy.verbs.get(verb) == "tests_only"):
        return None  # "correct it": what was said before says what
    if not rest or _only_introduces(clause, verb, policy):
        return None
    if _ASIDE.fullmatch(clause) is not None and policy.behaviour.search(clause) is None:
        return None
    found = _by_phrase(clause[clause.find(rest[0]) :], policy)
    if found is None and verb not in policy.acts:
        found = _weaker_kind(clause, verb, names, policy)
    if found is None:
        asks_nothing = verb not in policy.verbs and verb not in policy.neutral
        if asks_nothing and policy.context.fullmatch(clause.rstrip(".!")) is not None:
            return None
        return _translated(clause, names, policy) or ("new_behaviour", clause)
    kind, words_found = found
    if kind != "tests_only" and (wanted := policy.behaviour.search(clause)) is not None:
        return "new_behaviour", wanted[0]
    return kind, words_found


def _of_statements(clauses: list[str], policy: KindsPolicy) -> list[tuple[ProofKind, str]]:
    """What sentences that ask for nothing are about, where another says what to do with it."""
    bare = [clause.rstrip(".!;:, ") for clause in clauses]
    acts = [word for clause in bare for word in clause.split()[:2] if word in policy.neutral]
    found = [
        (kind, clause)
        for clause in bare
        for kind, rows in policy.statements.items()
        if rows.fullmatch(clause) is not None
    ]
    return found if acts else []


def _translated(clause: str, names: frozenset[str], policy: KindsPolicy) -> tuple[ProofKind, str] | None:
    """What a clause of another language asks for, where all of it is understood."""
    known = policy.project | names | {"readme"}
    for language in policy.translations:
        english = language.in_english(clause, known)
        if english is not None and english != clause:
            found = _of_clause(english, names, policy)
            return None if found is None else (found[0], clause)
    return None


def _only_introduces(clause: str, verb: str, policy: KindsPolicy) -> bool:
    """Whether it is the heading of what follows: few words and a colon, and nothing is to be done in it."""
    if verb in policy.verbs or verb in policy.neutral or verb in policy.acts:
        return False
    return _INTRODUCES.fullmatch(clause) is not None and policy.behaviour.search(clause) is None


def _by_phrase(clause: str, policy: KindsPolicy) -> tuple[ProofKind, str] | None:
    """What a clause says as a whole."""
    said = clause.rstrip(".!;:, ")
    return next(((kind, said) for kind, rows in policy.phrases.items() if rows.fullmatch(said)), None)


def _weaker_kind(
    clause: str, verb: str, names: frozenset[str], policy: KindsPolicy
) -> tuple[ProofKind, str] | None:
    """What a clause asks for if it is no new behaviour: by its verb, by what that acts upon, by the place."""
    rest = clause.partition(verb)[2] if verb in policy.verbs or verb in policy.neutral else f" {clause}"
    own = policy.verbs.get(verb)
    if own is not None:
        # "Refactor the tests" is about tests, whatever the verb says.
        about = (
            _object(policy.things, rest, policy)
            or _object(policy.places, rest, policy)
            or _at_place(policy.places, rest, policy, verb)
        )
        if about is not None and not _is_of_project(about, rest, names, policy):
            about = None
        if own == "same_behaviour" and about is not None and about[0] != own:
            return about[0], f"{verb} {about[1]}"
        if own != "tests_only" and policy.happens.search(rest) is not None and verb in policy.only_about:
            return None
        says = about is not None and (own != "tests_only" or about[0] == own)
        return (own, verb) if says or _is_about(verb, clause, names, policy) else None
    thing = _object(policy.things, rest, policy)
    if thing is not None and not _is_of_project(thing, rest, names, policy):
        return None
    thing = thing or _object(policy.places, rest, policy)
    if thing is not None:
        return thing if _wants_no_more(thing, rest, names, policy) else None
    return _at_place(policy.places, rest, policy, verb) if verb in policy.edits else None


def _is_about(verb: str, clause: str, names: frozenset[str], policy: KindsPolicy) -> bool:
    """Whether a verb says the kind of this clause: always, or by what stands beside it."""
    wanted = policy.only_about.get(verb)
    about = _CIRCUMSTANCE.split(clause, maxsplit=1)[0]
    said = {word.strip(".,:;'") for word in _WORD.findall(about)}
    if wanted is None or wanted.pattern == NEVER:
        return wanted is None
    named = {name for name in names if not name[0].isdigit()}
    return not named.isdisjoint(said) or wanted.search(clause) is not None


def _is_of_project(
    thing: tuple[ProofKind, str], rest: str, names: frozenset[str], policy: KindsPolicy
) -> bool:
    """Whether a thing is of the project, and not of what its users have: "tests of the parser", but not
    "tests of the battery"; and is written once, not "when it is closed".
    """
    after = rest[rest.find(thing[1]) + len(thing[1]) :]
    if thing[0] != "tests_only" and policy.happens.search(after) is not None:
        return False
    if policy.certain.search(thing[1]) is not None:
        return True
    whose = _WHOSE.match(after)
    said = [word.strip("'.") for word in _WORD.findall(whose[1])] if whose is not None else []
    if not said or any(_is_project_word(word, names, policy) for word in said):
        return True
    # One word by itself may be a name of code: "to net", but not "to posts" or "of orders".
    return len(said) == 1 and _PLURAL.fullmatch(said[0]) is None


def _is_project_word(word: str, names: frozenset[str], policy: KindsPolicy) -> bool:
    return word in names or word in policy.project or re.search(r"\w[._/]\w|[()\d]", word) is not None


def _wants_no_more(
    thing: tuple[ProofKind, str], rest: str, names: frozenset[str], policy: KindsPolicy
) -> bool:
    """Whether nothing stands beside a thing that is none: "docs and examples", but not "docs and the
    feature". What comes after a preposition only tells which thing.
    """
    beside = _BESIDE.match(rest[rest.find(thing[1]) + len(thing[1]) :])
    if beside is None:
        return True
    more = f" {beside['more']}"
    said = [word.strip(".,:;'") for word in _WORD.findall(more)]
    first = said[0] if said else ""
    code = next(iter(policy.only_about.values()), None)
    return (
        first in names
        or first in _PRONOUNS
        or policy.polite.issuperset(said)
        or _object(policy.things, more, policy) is not None
        or _object(policy.places, more, policy) is not None
        or (thing[0] == "same_behaviour" and code is not None and code.match(more, 1) is not None)
    )


def _object(
    patterns: Mapping[ProofKind, re.Pattern[str]], rest: str, policy: KindsPolicy
) -> tuple[ProofKind, str] | None:
    """What stands where the object of a verb stands: after articles, and after a few words that only tell
    which one.
    """
    return _best(
        (kind, match[0])
        for kind, pattern in patterns.items()
        for match in pattern.finditer(rest)
        if _only_tells_which(rest[: match.start()], policy, 1)
    )


def _may_stand_before(preposition: str, place: str, verb: str) -> bool:
    """Whether this is where something is written: "the import of data.csv" and "a reader from data.csv" are
    code.
    """
    if preposition == "from":
        return _TAKES_AWAY.match(verb) is not None
    return preposition != "of" or _OF_DATA.search(place) is None


def _at_place(
    patterns: Mapping[ProofKind, re.Pattern[str]], rest: str, policy: KindsPolicy, verb: str
) -> tuple[ProofKind, str] | None:
    """The place that is named with a preposition after the object: `in README.md`, `to the docs`."""
    return _best(
        (kind, match[0])
        for kind, pattern in patterns.items()
        for match in pattern.finditer(rest)
        if (before := _PREPOSITION.search(rest[: match.start()])) is not None
        and _may_stand_before(before[2], match[0], verb)
        and _only_tells_which(before[1].partition(" on ")[0], policy, 5, _BREAKS - {"of", "for"})
    )


def _only_tells_which(text: str, policy: KindsPolicy, most: int, breaks: frozenset[str] = _BREAKS) -> bool:
    """Whether the words between a verb and its object are articles and at most a few others, none of which
    could begin something else.
    """
    others = [word for word in _WORD.findall(text) if word not in policy.articles | (policy.polite - breaks)]
    verbs = [word for word in others if word.endswith("ing") and word not in policy.nouns]
    return len(others) <= most and not verbs and breaks.isdisjoint(others)


def _best(found: Iterable[tuple[ProofKind, str]]) -> tuple[ProofKind, str] | None:
    """The longest words; of two as long, the stronger kind."""
    return max(found, key=lambda answer: (len(answer[1]), PROOF_KINDS.index(answer[0])), default=None)

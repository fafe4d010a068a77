"""Rules of what was asked, and of how its ambiguities were answered."""

import re
from collections import Counter
from collections.abc import Iterator

from agentforge.gates.rules.paths import THE_REQUEST, plain
from agentforge.gates.rules.subject import Artifact, Subject, cut, fold, parts

SURE = 80
"""Percent of confidence from which an answer stands, and under which a blocking question goes to a person."""

_LEFT_OUT = re.compile(r"\.\.\.|…")
_NUMBER = re.compile(r"^\s*\d+\s*[:|]\s?", re.MULTILINE)


def original_request_verbatim(subject: Subject) -> list[str]:
    """The request is kept word for word. A draft may leave it out: the engine fills it in."""
    said = subject.artifact.get("original_request")
    return (
        []
        if said is None or said == subject.request
        else ["original_request differs from the request; leave it out, it is filled in"]
    )


def intent_extracted(subject: Subject) -> list[str]:
    """It is clear what is to be done to what."""
    intent = _intent(subject)
    return [
        f"extracted_intent.{key} is empty; {hint}"
        for key, hint in (("action", "say what is to be done"), ("target", "name what is acted upon"))
        if not str(intent.get(key) or "").strip()
    ]


def scope_defined(subject: Subject) -> list[str]:
    """How far it goes is said, and what is left out is not what is asked for."""
    intent = _intent(subject)
    wrong = (
        []
        if intent.get("scope")
        else ["extracted_intent.scope is empty; one of file, module, feature, system"]
    )
    outside = [str(item) for item in parts(subject.artifact, "out_of_scope")]
    wrong += [
        "out_of_scope has an empty entry; say what is left out, or remove it"
        for item in outside
        if not item.strip()
    ]
    target = fold(str(intent.get("target") or ""))
    return wrong + [
        f'out_of_scope: "{cut(item)}" is also the target; one of them is wrong'
        for item in outside
        if target and fold(item) == target
    ]


def ambiguities_listed(subject: Subject) -> list[str]:
    """Each ambiguity is a question of its own."""
    found = parts(subject.artifact, "identified_ambiguities")
    wrong = [
        f"identified_ambiguities[{place}] has no {key}; write it, or remove the entry"
        for place, item in enumerate(found)
        for key in ("area", "question")
        if not str(item.get(key) or "").strip()
    ]
    counts = Counter(fold(str(item.get("question") or "")) for item in found)
    return wrong + [
        f'"{cut(text)}" is asked {count} times; ask it once'
        for text, count in counts.items()
        if text and count > 1
    ]


def all_questions_addressed(subject: Subject) -> list[str]:
    """No ambiguity of the intake is passed over."""
    if (intake := subject.inputs.get("request")) is None:
        return [subject.missing("request")]
    told = [fold(str(line)) for key in ("blocking", "assumptions") for line in parts(subject.artifact, key)]
    questions = [(item, str(item.get("question"))) for item in parts(intake, "identified_ambiguities")]
    return [
        f'the ambiguity "{cut(text)}" has no entry in questions; answer it there, with its area, '
        "confidence and evidence"
        for item, text in questions
        if not answers_to(subject.artifact, item)
        and not any(fold(text) in line for line in told)
        and not _was_answered(subject, text)
    ]


def confidence_scores_provided(subject: Subject) -> list[str]:
    """Each answer says how sure it is."""
    return [
        f'"{cut(str(question.get("question")))}" has no confidence; a whole percent from 0 to 100'
        for question in parts(subject.artifact, "questions")
        if not isinstance(question.get("confidence"), int) or not 0 <= question["confidence"] <= 100
    ]


def evidence_is_in_the_files(subject: Subject) -> list[str]:
    """A sure answer rests on something, and what is quoted stands where it is said to stand."""
    wrong = []
    for question in parts(subject.artifact, "questions"):
        evidence = parts(question, "evidence")
        if not evidence and _inferred(question) and question.get("confidence", 0) >= SURE:
            said = (
                f'"{cut(str(question.get("question")))}" is answered with {question["confidence"]} '
                "percent and no evidence"
            )
            wrong.append(
                f"{said}; cite a file and a snippet of it (or file: {THE_REQUEST}), or go below {SURE}"
            )
        wrong += [line for item in evidence if (line := _misquoted(subject, item))]
    return wrong


def blocking_ambiguities_answered(subject: Subject) -> list[str]:
    """What blocks is answered with confidence, or by a person."""
    wrong = [
        f'"{cut(str(question))}" is still blocking; escalate it, or answer it from the repository under '
        "questions"
        for question in parts(subject.artifact, "blocking")
        if not _was_answered(subject, str(question))
    ]
    if (intake := subject.inputs.get("request")) is None:
        return [*wrong, subject.missing("request")]
    for ambiguity in _blocking(intake):
        text = str(ambiguity.get("question"))
        answers = answers_to(subject.artifact, ambiguity)
        if not answers and not _was_answered(subject, text):
            wrong.append(
                f'the blocking ambiguity "{cut(text)}" has no entry in questions; answer or escalate it'
            )
        elif answers and not _settled(subject, text, answers):
            wrong.append(f'the blocking ambiguity "{cut(text)}" is answered below {SURE}; escalate it')
    return wrong


def unanswered(subject: Subject) -> list[str]:
    """The questions of a clarification that only a person can answer, and nobody has: what is to be asked."""
    found = [str(question) for question in parts(subject.artifact, "blocking")]
    for ambiguity in _blocking(subject.inputs.get("request", {})):
        answers, text = answers_to(subject.artifact, ambiguity), str(ambiguity.get("question"))
        if answers and not _settled(subject, text, answers):
            found.append(text)
    distinct = {fold(text): text for text in reversed(found)}
    return [text for text in reversed(distinct.values()) if not _was_answered(subject, text)]


def answers_to(artifact: Artifact, ambiguity: Artifact) -> list[Artifact]:
    """The entries of a clarification that speak of this ambiguity: by its question, or by its area."""
    wanted = {fold(str(ambiguity.get(key))) for key in ("question", "area") if ambiguity.get(key)}
    return [
        item
        for item in parts(artifact, "questions")
        if wanted & {fold(str(item.get(key, ""))) for key in ("question", "area")}
    ]


def asked_of(asked: str, question: str) -> bool:
    """Whether a person who was asked `asked` was asked this question, alone or among others."""
    return bool(question.strip()) and fold(question) in fold(asked)


def _intent(subject: Subject) -> Artifact:
    intent = subject.artifact.get("extracted_intent")
    return intent if isinstance(intent, dict) else {}


def _blocking(intake: Artifact) -> Iterator[Artifact]:
    yield from (item for item in parts(intake, "identified_ambiguities") if item.get("impact") == "blocking")


def _settled(subject: Subject, text: str, answers: list[Artifact]) -> bool:
    # `resolved_by` is the engine's to write; `source` is only what the role says.
    sure = any(item.get("resolved_by") or item.get("confidence", 0) >= SURE for item in answers)
    return (
        sure
        or _was_answered(subject, text)
        or any(_was_answered(subject, str(item.get("question", ""))) for item in answers)
    )


def _was_answered(subject: Subject, question: str) -> bool:
    return any(asked_of(asked, question) for asked in subject.answered)


def _inferred(question: Artifact) -> bool:
    return not question.get("resolved_by") and question.get("source", "agent_inference") == "agent_inference"


def _misquoted(subject: Subject, item: Artifact) -> str:
    """What is wrong with a quotation. A file that is not there is the affair of the rule about paths."""
    path, snippet = str(item.get("file", "")), str(item.get("snippet") or "")
    if path == THE_REQUEST:
        text: str | None = subject.request
    else:
        text = subject.read(plain(path)) if plain(path) in subject.files else None
    if text is None or _quotes(text, snippet) or _quotes(text, _NUMBER.sub("", snippet)):
        return ""
    return f'evidence: "{cut(" ".join(snippet.split()))}" is not in {path}; copy it word for word'


def _quotes(text: str, snippet: str) -> bool:
    """Whether each part of a snippet stands in the text, spacing aside; `...` stands for what was left
    out.
    """
    whole = " ".join(text.split())
    return all(" ".join(part.split()) in whole for part in _LEFT_OUT.split(snippet))

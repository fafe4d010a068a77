"""The named rules about artifacts: each says what is wrong in words that can be fed back, or nothing.

A rule reads an artifact, the artifacts beside it and the tree; it runs nothing and asks nobody. What a rule
needs and does not find is a failure: not judged is not passed.
"""

from collections.abc import Mapping

from agentforge.catalog.rules import CATALOG_RULES, JUDGED
from agentforge.core.pipeline import PREDICATES, Predicate, complete
from agentforge.gates.rules import debate, frame, paths, review, vague
from agentforge.gates.rules import specification as spec
from agentforge.gates.rules.frame import SURE, unanswered
from agentforge.gates.rules.subject import Rule, Subject

__all__ = ["ARTIFACT_RULES", "JUDGED", "SURE", "Rule", "Subject", "unanswered"]

ARTIFACT_RULES: Mapping[Predicate, Rule] = {
    "every_requirement_has_criterion": spec.every_requirement_has_criterion,
    "requirement_ids_unique": spec.requirement_ids_unique,
    "paths_are_relative": paths.paths_are_relative,
    "no_circular_dependencies": spec.no_circular_dependencies,
    "every_requirement_has_test": spec.every_requirement_has_test,
    "all_requirements_have_tests": spec.all_requirements_have_tests,
    "every_criterion_has_test": spec.every_criterion_has_test,
    "tests_name_known_requirements": spec.tests_name_known_requirements,
    "blocking_ambiguities_answered": frame.blocking_ambiguities_answered,
    "files_exist": paths.files_exist,
    "original_request_verbatim": frame.original_request_verbatim,
    "findings_block_or_approve": review.findings_block_or_approve,
    "intent_extracted": frame.intent_extracted,
    "scope_defined": frame.scope_defined,
    "ambiguities_listed": frame.ambiguities_listed,
    "vague_request_questioned": vague.vague_request_questioned,
    "all_questions_addressed": frame.all_questions_addressed,
    "confidence_scores_provided": frame.confidence_scores_provided,
    "evidence_is_in_the_files": frame.evidence_is_in_the_files,
    "requirements_addressed": spec.requirements_addressed,
    "interfaces_defined": spec.interfaces_defined,
    "constraints_documented": spec.constraints_documented,
    "review_complete": review.review_complete,
    "flags_ruled_on": review.flags_ruled_on,
    "issues_categorized": review.issues_categorized,
    "documentation_complete": review.documentation_complete,
    "changelog_generated": review.changelog_generated,
    "options_are_a_choice": debate.options_are_a_choice,
    "decision_is_an_option": debate.decision_is_an_option,
    "argues_for_an_option": debate.argues_for_an_option,
}
"""Rules of artifacts alone. Those of catalogue files are the catalogue's."""

complete(
    {**ARTIFACT_RULES, **CATALOG_RULES, **JUDGED}, PREDICATES
)  # else nothing imports, and no task starts

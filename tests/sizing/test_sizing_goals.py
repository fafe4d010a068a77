"""Which pipeline a request asks for: whole words, the leading verb first."""

from agentforge.core.pipeline import Part
from agentforge.sizing.goals import classify_goal
from tests.rows import every


@every(
    "request_text",
    [
        "Design a plugin system",
        "design plugin system",
        "Please design the cache.",
        "Design caching that should survive a restart",
        "Could you architect a queue for the workers?",
        "Specify how dates are parsed",
        "Plan the migration to asyncio",
        "We need to plan a new command line",
        "Write a specification for the parser",
        "Draft a technical design for the importer",
        "Propose an architecture",
    ],
)
def test_a_leading_verb_of_design_asks_for_a_design(request_text: str) -> None:
    pipeline, why = classify_goal(request_text)
    assert pipeline == "design"
    assert "begins with" in why


@every(
    "request_text",
    [
        "Add a prefix option to the CLI",
        "Escape special characters in output",
        "Redesign the login page",
        "Implement the design in docs/cache.md",
        "Plan B is broken",
        "Plans expire too early",
        "Design tokens should be read from JSON",
        "The planner should be faster",
        "Fix the specification parser",
        "Write spec tests for the parser",
        "Write a design token loader",
        "Make a plan class",
        "Review comments are lost when a thread closes",
        "Document upload must keep the file's name",
        "Document types should be listed",
        "Test runner output is cut",
        "Fix the rounding in total()",
        "Review the parser and fix what is wrong",
        "Write tests for the parser",
        "",
        "…",
        "Ärger mit Umlauten",
    ],
)
def test_everything_else_is_to_be_made(request_text: str) -> None:
    assert classify_goal(request_text)[0] == "implement"


@every(
    "request_text",
    ["Design and implement a cache", "Plan, and then build, a cache", "Specify the format and add a reader"],
)
def test_a_design_that_is_also_to_be_built_is_to_be_made_and_says_why(request_text: str) -> None:
    pipeline, why = classify_goal(request_text)
    assert pipeline == "implement"
    assert "but also" in why


@every(
    ("request_text", "goal"),
    [
        ("Review the date handling", "review"),
        ("Review src/auth/tokens.py", "review"),
        ("Analyze how sessions end", "review"),
        ("Please assess the cache", "review"),
        ("Document the plugin interface", "document"),
        ("Document src/auth/", "document"),
        ("Write a guide for plugin authors", "document"),
        ("Fix V-04b31cde217a", "fix"),
    ],
)
def test_the_other_goals_are_asked_for_by_their_verb_too(request_text: str, goal: str) -> None:
    found, why = classify_goal(request_text)
    assert found == goal
    assert "begins with" in why or "violation" in why


def test_what_is_handed_in_says_the_goal_before_the_words_do() -> None:
    given: frozenset[Part] = frozenset({"requirements"})
    assert classify_goal("Design a cache", given)[0] == "implement"
    assert classify_goal("Test the specification", given)[0] == "test"
    assert classify_goal("Test the specification", given | {"tests"})[0] == "implement"


@every(
    ("request_text", "goal"),
    [
        ("Research how long a session is kept and write it down in reports/sessions.md", "research"),
        ("Please research caching strategies for the API", "research"),
        ("Research the two parsers and create a report", "research"),
        ("Write an article about the new parser", "write"),
        ("Draft a short announcement for version 2", "write"),
        ("Write a report on the waiting times", "write"),
        ("Write a short welcome page for new members in pages/welcome.md", "write"),
        ("Write code that puts notes in report.md", "implement"),
        ("Write a page renderer for docs in pages/x.md", "implement"),
        ("Analyse data/survey.csv by region", "analyse"),
        ("Analyze the dataset of last year", "analyse"),
        ("Curate the customers in data/customers.csv", "curate"),
        ("Clean data/customers.csv so that every country is valid", "curate"),
        # and what only looks like it
        ("Research page crashes on load", "implement"),
        ("Research the queue and implement it", "implement"),
        ("Write a report to disk after every run", "implement"),
        ("Write a summary of failed rows to stderr", "implement"),
        ("Write an article model with a title", "implement"),
        ("Clean the build folder before a release", "implement"),
        ("Deduplicate rows in the importer", "implement"),
        ("Analyse the auth module", "review"),
        ("Write a guide for plugin authors", "document"),
        ("Write a specification for the parser", "design"),
    ],
)
def test_a_text_or_data_that_is_asked_for_is_told_from_code_that_makes_one(
    request_text: str, goal: str
) -> None:
    assert classify_goal(request_text)[0] == goal, request_text

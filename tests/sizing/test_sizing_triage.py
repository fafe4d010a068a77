from agentforge.context.code_index import CodeIndex
from agentforge.context.named import TreeFacts, tree_facts
from agentforge.sizing.triage import triage
from tests.rows import every

FILES = CodeIndex.of_texts(
    {
        "src/app/dates.py": "DEFAULT_DAYS = 3\n\ndef parse_date(text):\n    ...\n",
        "src/app/cli.py": "class CommandLine:\n    def run(self): ...\n",
        "tests/test_dates.py": "from app.dates import parse_date\n",
        "README.md": "",
    }
)


@every(
    ("request_text", "goal", "action"),
    [
        ("Add a prefix option to the CLI", "implement", "create"),
        ("Escape special characters in output", "implement", "modify"),
        ("Fix the failing test in test_dates.py", "fix", "fix"),
        ("Add tests for parse_date", "test", "create"),
        ("Write documentation for the parser", "document", "create"),
        ("Review the date handling", "review", "analyze"),
        ("Design a plugin system", "design", "analyze"),
        ("Please remove the old flag", "implement", "delete"),
        ("parse_date crashes on an empty string", "fix", "fix"),
        ("Rename DEFAULT_DAYS", "implement", "modify"),
        ("Can you refactor the parser?", "implement", "refactor"),
        ("The latest contest planner should be faster", "implement", "modify"),
        ("Document the latest changes", "document", "create"),
        ("", "implement", "modify"),
    ],
)
def test_the_leading_verb_says_what_is_wanted(request_text: str, goal: str, action: str) -> None:
    found = triage(request_text, TreeFacts())
    assert (found.goal_type, found.action) == (goal, action)


@every(
    ("request_text", "lane"),
    [
        ("Fix the typo in src/app/dates.py", "hotfix"),
        ("Fix the off-by-one error in `parse_date`", "hotfix"),
        ("Change the default of DEFAULT_DAYS to 5", "hotfix"),
        ("parse_date() should return None for an empty string", "hotfix"),
        ("Fix the typo in the docs", "hotfix"),
        ("Document parse_date and explain it in the README", "hotfix"),
        ("Fix the typo in dates.py and in cli.py", "small"),
        ("Fix parse_date", "hotfix"),
        ("Add a time zone option to parse_date", "hotfix"),
        ("Fix the wrong default in dates.py, it breaks password checks", "hotfix"),
        ("Fix the typo in dates.py " + "and mind the gap " * 200, "hotfix"),
        ("Let `parse_date` do what README.md says of it", "hotfix"),
        ("Add app.dates.or_none() for what may be missing", "hotfix"),
        ("parse_date() should keep the zone, so that CommandLine.run can show it", "hotfix"),
        ("Fix the default in src/app/missing.py", "small"),
        ("Rewrite the entire dates.py", "small"),
        ("In dates.py:\n" + "- do one thing more\n" * 6, "small"),
    ],
)
def test_a_hotfix_names_one_known_place_however_long_it_is(request_text: str, lane: str) -> None:
    found = triage(request_text, tree_facts(request_text, FILES))
    assert found.lane == lane, found.reasons


def test_named_places_are_looked_up_in_the_tree() -> None:
    facts = tree_facts(
        "In `dates.py`, `parse_date` and CommandLine.run disagree with README.md, e.g. on v1.2", FILES
    )
    assert facts.named_paths == ("README.md", "src/app/dates.py")
    assert set(facts.named_symbols) == {"src/app/dates.py::parse_date", "src/app/cli.py::CommandLine.run"}


@every(
    ("words", "complexity"),
    [
        ("Add a flag", "simple"),
        ("Add a flag " + "so that it works " * 25, "moderate"),
        ("Rewrite the entire parser", "complex"),
        ("word " * 500, "epic"),
    ],
)
def test_size_follows_words_places_and_breadth(words: str, complexity: str) -> None:
    assert triage(words, TreeFacts()).complexity == complexity

"""The file of registered repositories: as we write it, it is read without YAML, and says the same."""

from pathlib import Path

from agentforge.store.layout import Home
from agentforge.store.user import repositories
from agentforge.store.user.repositories import Repository, parse_repositories, save_repository
from agentforge.system import strict_yaml
from tests.rows import every

NAMES = ("api", "web-2.0", "No", "null", "y", "on", "TRUE", "Infinity", "e1")


def test_what_we_write_is_read_back_as_it_was_whatever_the_names(tmp_path: Path) -> None:
    home = Home(tmp_path)
    wanted = [Repository(name, f"/srv/{name}", name, "conf/own") for name in NAMES]
    wanted += [Repository("last", "/srv/with space", "größe")]
    for each in wanted:
        save_repository(home, each)
    text = repositories.repositories_file(home).read_text(encoding="utf-8")
    assert [*parse_repositories(text, "repos.yaml")] == wanted


@every(
    "text",
    [
        "repositories:\n  - name: api\n    path: /srv/api\n    default_branch: main\n",
        "repositories:\n  - path: /srv/api\n    name: api\n  - name: web\n    path: /srv/web\n",
        "repositories:\n  - name: no\n    path: /srv/api\n",
        "repositories:\n  - name: api\n    name: web\n    path: /srv/api\n",
        "repositories:\n    name: api\n",
        "repositories:\n  - name: api  # the old one\n    path: /srv/api\n",
        "repositories:\n  - Name: api\n    path: /srv/api\n",
        "repositories:\n  - name: api\n    path: ~\n",
        "repositories:\n  - name: api\n    path: /srv/api",
        "repositories: []\n",
        "repositories:\n",
        "",
    ],
)
def test_the_short_way_says_what_yaml_says_or_leaves_it_to_yaml(text: str) -> None:
    short = repositories._plain(text)
    if short is not None:
        assert short == strict_yaml.load(text, "repos.yaml")


def test_the_usual_file_takes_the_short_way() -> None:
    assert repositories._plain("repositories:\n  - name: api\n    path: /srv/api\n") is not None

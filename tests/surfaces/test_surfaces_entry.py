"""What is answered before anything is loaded: it must be what click would answer."""

import sys
from pathlib import Path

import pytest

from agentforge import __version__
from agentforge.surfaces.cli import entry
from agentforge.surfaces.cli.main import main


@pytest.mark.parametrize("width", ["", "nonsense", "60", "80", "200"])
@pytest.mark.parametrize("option", ["--help", "-h"])
def test_the_page_that_is_kept_is_the_one_that_click_would_make(
    width: str, option: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", width)
    monkeypatch.setattr(sys, "argv", ["agentforge", option])
    monkeypatch.delitem(sys.modules, "temporalio", raising=False)  # a command that loaded it ends its process
    assert entry.main() == 0
    kept = capsys.readouterr().out
    assert main([option]) == 0
    assert kept == capsys.readouterr().out


def test_the_version_is_told_as_click_tells_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["agentforge", "--version"])
    assert entry.main() == 0
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"agentforge {__version__}\n" * 2


def test_the_page_can_be_shown_on_any_terminal() -> None:
    assert Path(entry.FRONT_PAGE).read_text(encoding="ascii")

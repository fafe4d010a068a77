"""Consent to a project's own tools: for one content in one project, in a file that nobody else could have
written.
"""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from agentforge.core.errors import UsageError
from agentforge.store.layout import Home
from agentforge.store.user.consents import MOST, consent, consented, consents_file

NOW = datetime(2030, 1, 31, 12, tzinfo=UTC)
A, B = "a" * 64, "b" * 64


def test_consent_is_for_one_content_in_one_project(tmp_path: Path) -> None:
    home = Home(tmp_path)
    assert not consented(home, "/p", A)
    consent(home, "/p", A, NOW)
    consent(home, "/p", A, NOW)
    assert consented(home, "/p", A)
    assert not consented(home, "/p", B)
    assert not consented(home, "/q", A)
    assert consents_file(home).stat().st_mode & 0o777 == 0o600
    assert consents_file(home).read_text().count(A) == 1


@pytest.mark.parametrize(
    "text",
    [
        "consents: 1\n",
        "- a\n",
        "consents: [{project: /p}]\n",
        "{",
        "consents: [{project: /p, digest: 1, at: x}]\n",
    ],
)
def test_a_damaged_file_holds_no_consent_and_is_left_as_it_is(tmp_path: Path, text: str) -> None:
    home = Home(tmp_path)
    path = consents_file(home)
    path.write_text(text)
    path.chmod(0o600)
    assert not consented(home, "/p", A)
    with pytest.raises(UsageError, match=r"is damaged .* no consent counts"):
        consent(home, "/p", A, NOW)
    assert path.read_text() == text


def test_a_file_that_others_can_write_and_a_link_hold_no_consent(tmp_path: Path) -> None:
    home = Home(tmp_path)
    consent(home, "/p", A, NOW)
    path = consents_file(home)
    path.chmod(0o622)
    assert not consented(home, "/p", A)
    path.chmod(0o600)
    assert consented(home, "/p", A)
    path.rename(tmp_path / "real.yaml")
    path.symlink_to("real.yaml")
    assert not consented(home, "/p", A)


def test_the_oldest_are_forgotten_and_nothing_can_be_agreed_to(tmp_path: Path) -> None:
    home = Home(tmp_path)
    entries = "".join(
        f"- {{project: /p, digest: '{number:064x}', at: '2030-01-01T00:00:00Z'}}\n" for number in range(MOST)
    )
    consents_file(home).write_text(f"consents:\n{entries}")
    consents_file(home).chmod(0o600)
    consent(home, "/p", A, NOW)
    assert consented(home, "/p", A)
    assert not consented(home, "/p", f"{0:064x}")
    for digest in ("", "../x", "A" * 64):
        with pytest.raises(ValueError, match="nothing that can be agreed to"):
            consent(home, "/p", digest, NOW)

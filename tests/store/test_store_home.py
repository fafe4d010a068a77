"""Where the user's own directory is, and what is said where there can be none."""

from pathlib import Path

import pytest

from agentforge.core.errors import UsageError
from agentforge.store.home import home_path


def test_a_home_below_a_file_names_the_file_and_what_to_set(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for place in (tmp_path / "file", tmp_path / "file/below", tmp_path / "file/far/below"):
        with pytest.raises(UsageError, match=f"^{tmp_path}/file is no directory.*Set AGENTFORGE_HOME"):
            home_path({"AGENTFORGE_HOME": str(place)})
    assert home_path({"AGENTFORGE_HOME": str(tmp_path / "new/one")}) == tmp_path / "new/one"

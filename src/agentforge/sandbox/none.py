"""No walls: the same environment variables as a confined run, and nothing else. Only on explicit request."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from agentforge.sandbox.base import Confinement, check_inside, variables
from agentforge.system.processes import Completed, run


@dataclass(frozen=True, slots=True)
class NoSandbox:
    """Runs programs with the rights of the caller."""

    name: Literal["none"] = "none"

    def run(self, argv: Sequence[str], confinement: Confinement) -> Completed:
        """Run `argv` with a private temporary directory and home, and no walls."""
        cwd = check_inside(confinement)
        with tempfile.TemporaryDirectory(prefix="agentforge-", ignore_cleanup_errors=True) as temporary:
            Path(temporary, "home").mkdir()
            return run(
                tuple(argv),
                cwd=cwd,
                env=variables(confinement, temporary),
                timeout_s=confinement.timeout_s,
                pass_fds=confinement.pass_fds,
                output_limit=confinement.output_limit,
            )

    def guarantee(self) -> dict[str, str]:
        """Nothing is confined, and this says so."""
        return {
            "files": "not confined: the program can read and change whatever its user can",
            "network": "not confined",
            "processes": "the process group is killed at the time limit; a program that leaves the group may survive",
            "capabilities": "not confined: those of the user",
        }

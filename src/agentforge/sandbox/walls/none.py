"""No walls: the same environment variables as a confined run, the limits of a run, and an end of all that it
started. Only on explicit request.
"""

import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from agentforge.core.errors import Unusable
from agentforge.sandbox.base import Confinement, check_inside, variables
from agentforge.sandbox.network.upstream import own_variables
from agentforge.sandbox.walls.bounds import kept_within
from agentforge.sandbox.walls.landlock import LAUNCHER, spell
from agentforge.sandbox.walls.limits import under_limits
from agentforge.system.processes import Completed, run

NAME = "without walls"
COULD_NOT_START = (126, 127)


@dataclass(frozen=True, slots=True)
class NoSandbox:
    """Runs programs with the rights of the caller."""

    name: Literal["none"] = "none"

    def run(self, argv: Sequence[str], confinement: Confinement) -> Completed:
        """Run `argv` with a private temporary directory and home, and no walls."""
        cwd = check_inside(confinement)
        with (
            tempfile.TemporaryDirectory(prefix="agentforge-", ignore_cleanup_errors=True) as temporary,
            kept_within(confinement.limits, confinement.write) as bounds,
        ):
            Path(temporary, "home").mkdir()
            done = run(
                (
                    *_cared_for(cwd),
                    # The kernel would count all of the user's programs; ours are counted while they run.
                    *under_limits(
                        NAME, argv, confinement.limits, confinement.timeout_s, count_processes=False
                    ),
                ),
                cwd=cwd,
                # Nothing keeps a run here to a list, so it takes the way that the user's own programs take.
                env=variables(confinement, temporary)
                | (own_variables(os.environ) if confinement.network else {}),
                timeout_s=confinement.timeout_s,
                input=confinement.input,
                pass_fds=confinement.pass_fds,
                output_limit=confinement.output_limit,
                tee=confinement.tee,
                watch=bounds.look,
                joins=bounds.doors,
            )
            done = bounds.judged(done)
        if done.code in COULD_NOT_START and done.err.startswith(f"{NAME}: ".encode()):
            raise Unusable(
                f"`{argv[0]}` could not be started without walls.",
                "Check that it is installed, and try again.",
            )
        return replace(done, argv=tuple(argv))

    def guarantee(self) -> dict[str, str]:
        """Nothing is confined, and this says so."""
        return {
            "files": "not confined: the program can read and change whatever its user can",
            "network": "not confined",
            "processes": "not confined: others can be seen and signalled; memory, processor time, open "
            "files and file size are limited; all of them end with the run, and with the driver",
            "capabilities": "not confined: those of the user",
        }


def _cared_for(cwd: Path) -> tuple[str, ...]:
    """Words that start a program with a caretaker outside, who holds the task's lock in its place and ends
    all that it leaves behind. Only Linux lets one process adopt what others leave.
    """
    if sys.platform != "linux":
        return ()
    return (sys.executable, "-I", "-S", str(LAUNCHER), spell({"cwd": str(cwd)}))

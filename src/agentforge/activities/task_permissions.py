"""What a person on this machine said about a task, and what follows from it for its walls and for its calls.

A journal lies in the repository, and a repository can bring one along: nothing here is taken from it alone.
"""

import hashlib
from functools import partial
from typing import cast, get_args

from agentforge.commands.permissions import Rules
from agentforge.core.errors import PolicyError, UsageError
from agentforge.core.state import State
from agentforge.sandbox.base import Sandbox
from agentforge.sandbox.walls.container import ContainerSpec
from agentforge.sandbox.walls.ladder import WantedSandbox, choose
from agentforge.store.site import Site, home_path
from agentforge.store.user.approvals import approvals_file, approved_calls
from agentforge.store.user.consents import consented
from agentforge.store.user.grants import grants_file, read_grants
from agentforge.store.user.start_permissions import (
    StartPermissions,
    StoredPermissions,
    permissions_file,
    read_permissions,
)


def permissions_of(site: Site, state: State) -> StoredPermissions:
    """What was permitted when a task was started here; nothing, if the task came from elsewhere."""
    found = read_permissions(permissions_file(site.home, site.git.top, state.task_id))
    if found.problem or found.permissions.marker == state.marker:
        return found
    return StoredPermissions(StartPermissions())


def rules_of(site: Site, state: State, permissions: StartPermissions) -> Rules:
    """What decides about the calls of a task. Grants and approvals are read when they matter, so that what
    was revoked does not count.
    """
    project = project_of(site)
    return Rules(
        project,
        permissions,
        site.clock,
        lambda: read_grants(grants_file(site.home)).grants if permissions.grants else (),
        lambda: approved_calls(approvals_file(site.home), project, state.task_id),
        partial(consented, site.home, project),
    )


def project_of(site: Site) -> str:
    """How grants, approvals and consents call a repository: by the real path of its checkout."""
    return str(site.git.top.resolve())


WEAK_QUESTION = (
    "The sandbox of this machine is weak: without namespaces, code of this repository can reach the sockets "
    "of your other programs, such as a display, a session bus, an agent for keys or a service of containers. "
    "May it run here?"
)
WEAK_ADVICE = (
    "Install bubblewrap, or let users make namespaces, and retry; or allow it: once for this repository, or "
    "with `sandbox: {weak: allow}` in your config.yaml for all."
)
WEAK_CONSENT = hashlib.sha256(b"weak walls").hexdigest()
"""Under which a person's yes is kept, by project, in their own directory. A journal cannot say it."""


def weak_allowed(site: Site, state: State, *, own: bool) -> bool:
    """Whether a person said that code of this repository may run behind weak walls: in their configuration
    (`own`), to a question, or by starting what is not a repository's code.
    """
    said = permissions_of(site, state).permissions.sandbox
    return own or said == "weak" or consented(site.home, project_of(site), WEAK_CONSENT)


def check_walls(wanted: str, own: str, *, at_terminal: bool) -> None:
    """Only a person can take the walls away: at a terminal, or in their own configuration (`own`)."""
    if wanted == "none" and own != "none" and not at_terminal:
        raise PolicyError(
            "Without a terminal, --sandbox none also needs `sandbox: none` in your own settings.",
            f"Write `sandbox: none` into {home_path() / 'config.yaml'}, or leave --sandbox out.",
        )


def walls_of(site: Site, state: State, own: str, container: ContainerSpec | None) -> Sandbox:
    """The walls that the task has on record. That there are none is not believed of a record."""
    name = sandbox_name(state.sandbox)
    if name == "none" and "none" not in (permissions_of(site, state).permissions.sandbox, own):
        raise PolicyError(
            f"The record of {state.task_id} says sandbox none, and nobody on this machine allowed that.",
            f"To allow it, write `sandbox: none` into {home_path() / 'config.yaml'}; else start the "
            "request again.",
        )
    return choose(name, container)


def sandbox_name(name: str) -> WantedSandbox:
    """The name as a kind of sandbox, or `auto`; a `UsageError` where there is none of that name."""
    for known in get_args(WantedSandbox):
        if name == known:
            return cast("WantedSandbox", name)
    raise UsageError(f"There is no sandbox {name!r}.", f"Choose one of {', '.join(get_args(WantedSandbox))}.")

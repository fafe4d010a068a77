"""Language servers: asked beside the steps who uses what the request is about. What one said is used from the
step after the one at whose end it is on record; nobody waits for it.
"""

from collections.abc import Callable, Mapping
from functools import partial

from agentforge.activities.surroundings import first_places
from agentforge.activities.world import World
from agentforge.core.reply import Json
from agentforge.core.state import RunView, State
from agentforge.languages.port import Language
from agentforge.languages.servers.asking import Definition, Place, ask, installed
from agentforge.languages.servers.described import LanguageServer
from agentforge.languages.servers.told import ToldUses
from agentforge.languages.symbols import decode
from agentforge.languages.table import language_of
from agentforge.languages.values import Environment
from agentforge.tools.look.source import MAX_BYTES


def servers_of(world: World, state: State, environment: Environment) -> dict[str, LanguageServer]:
    """The server of each language of the work, where one is installed that a run would find."""
    if not state.asks_servers:
        return {}
    variables = world.language(state).projects.run_env(environment, environment.source)
    found = {}
    for language in _languages(world, state):
        server = installed(language.servers, variables.get("PATH", ""), environment.readable)
        if server is not None:
            found[language.name] = server
    return found


def servers_on_record(world: World, state: State, environment: Environment) -> dict[str, Json]:
    """What the record of the base says of them; nothing where there are none."""
    names: dict[str, Json] = {
        name: server.name for name, server in servers_of(world, state, environment).items()
    }
    return {"language_servers": names} if names else {}


def _languages(world: World, state: State) -> list[Language]:
    return list({each.language.name: each.language for each in world.scope(state)}.values())


def ask_beside(world: World, state: RunView) -> None:
    """Begins to ask, where there is a server and nothing is on record yet. Nothing is waited for."""
    is_over = not state.asks_servers or state.told is not None or state.run.parent
    if is_over or state.baseline is None or not world.desk.is_free:
        return
    names = world.baseline_record(state).servers
    wanted = _wanted(world, state, names) if names else {}
    if wanted:
        known = frozenset(world.code_index(state).files)
        world.desk.begin(partial(_asked, world, state, wanted, partial(_text, world, state, known)))


def _wanted(world: World, state: RunView, names: Mapping[str, str]) -> dict[str, list[Definition]]:
    """The definitions that the request is about, by language; only of those that have a server."""
    found: dict[str, list[Definition]] = {}
    for path, symbol in first_places(world, state).asked:
        language = language_of(path)
        if language is not None and language.name in names:
            found.setdefault(language.name, []).append(Definition(path, symbol))
    return found


def _text(world: World, state: State, known: frozenset[str], path: str) -> str | None:
    if path not in known:
        return None
    data = world.workspace.git.read_blob(state.base_tree, path, MAX_BYTES)
    return None if data is None else decode(data, path)


def _asked(
    world: World,
    state: State,
    wanted: Mapping[str, list[Definition]],
    read: Callable[[str], str | None],
    mark: int,
) -> ToldUses | None:
    environment = world.environment(state)
    servers = servers_of(world, state, environment)
    if not servers:
        return None
    tree = world.workspace.asked(state.base_tree, state.base_commit)
    place = Place(
        world.sandbox,
        environment,
        world.language(state).projects.run_env(environment, tree),
        tree,
        world.workspace.root / "scratch",
        (mark,),
    )
    told = ToldUses(state.base_tree)
    for language, definitions in wanted.items():
        if (server := servers.get(language)) is not None:
            said = ask(server, place, definitions, read)
            told = told.with_answer(language, server.name, frozenset(each.id for each in definitions), said)
    return told


def heard(world: World, state: State) -> str:
    """Where the pack has what came in meanwhile; empty if nothing did, or it is on record."""
    said = world.desk.said() if state.told is None else None
    return world.pack.put_json(said.to_json()) if said is not None else ""


def said_of_servers(world: World, state: RunView) -> tuple[str, ...]:
    """For whoever looks at a context: which server is not heard in it, and why."""
    told = world.told(state.told_now)
    return tuple(f"language server {name}: {why}" for name, why in sorted(told.problems.items()))

"""What a JavaScript project is, and its environment: `Projects` for JavaScript."""

import os
import posixpath
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from agentforge.core.errors import UsageError
from agentforge.languages.described import Read, words
from agentforge.languages.environments import build_environment
from agentforge.languages.node.additions import add_manager, additions_of
from agentforge.languages.node.checkers import linters_of, types_of
from agentforge.languages.node.manifest import (
    PACKAGE,
    Manager,
    manager_of,
    other_platform,
    other_runner,
    package_at,
    packages_in,
    suite_in,
    suites_in,
)
from agentforge.languages.node.marked import declared_marks, marked_scripts
from agentforge.languages.node.registry import (
    certificates,
    logins_in,
    registry_places,
    registry_settings,
    without_logins,
)
from agentforge.languages.node.test_files import CODE, TEST_FOLDERS, TEST_NAME
from agentforge.languages.plain.answers import NOT_PROJECTS, PlainProjects, outermost
from agentforge.languages.set_up import Makings
from agentforge.languages.toolchains import find_toolchains, needs_of, with_toolchains
from agentforge.languages.values import SETTINGS_FILE, Environment, Manifest, Plan
from agentforge.sandbox.base import Sandbox
from agentforge.sandbox.network.destinations import Destination, destinations
from agentforge.system.programs import find_program

LOCKS = words("package-lock.json npm-shrinkwrap.json pnpm-lock.yaml yarn.lock bun.lock")
YARNS_OWN = "registry.yarnpkg.com"
_DECIDES = LOCKS | words("package.json .npmrc .yarnrc .yarnrc.yml pnpm-workspace.yaml .nvmrc .node-version")


class NodeProjects(PlainProjects):
    """Projects with a `package.json`."""

    BUILD_FILES = words(
        "package.json .npmrc .yarnrc.yml pnpm-workspace.yaml tsconfig.json turbo.json nx.json"
    )
    LOCKS = LOCKS

    def roots(self, read: Read, paths: Sequence[str], /) -> tuple[str, ...]:
        """The outermost packages that have code, and inner ones with a lock of their own."""
        del read
        outer = [root for root in outermost(paths, {PACKAGE}) if _has_code(paths, root)]
        there = set(paths)
        inner = [
            posixpath.dirname(path)
            for path in paths
            if posixpath.basename(path) in LOCKS
            and f"{posixpath.dirname(path)}/{PACKAGE}" in there
            and NOT_PROJECTS.isdisjoint(path.split("/")[:-1])
            and _has_code(paths, posixpath.dirname(path))
        ]
        return tuple(dict.fromkeys((*outer, *inner)))

    def missing(self, plan: Plan, /) -> str:
        """Node and npm are found by looking; a runner without a judge is named."""
        if not plan.tests:
            return next(
                (why for name, why in plan.not_run if name == "tests"), "Its test runner is not known."
            )
        chains = find_toolchains(plan.toolchains, os.environ, Path.home())
        for name in ("node", *(("npm",) if plan.setup else ())):
            if find_program(name) is None and not any(
                (folder / name).exists() for chain in chains for folder in chain.programs
            ):
                return f"The project is in JavaScript, and `{name}` is not installed here."
        return ""

    def detect(
        self, read: Read, paths: Sequence[str], settings: Mapping[str, object] | None = None, /
    ) -> Plan:
        """The plan of a project, corrected by its settings."""
        suites, manager = suites_in(read, paths), manager_of(read, paths)
        packages = [*packages_in(read, paths)]
        needs = any(package.installed for package in packages)
        unknown = next((name for package in packages if (name := other_runner(package))), "")
        unknown = unknown or ("" if suites else other_platform(paths))
        reasons = [f"{manager.name}, by {manager.lock or PACKAGE}"] if needs else ["it requires no package"]
        reasons += [
            f"{suite.runner} runs the tests{' of ' + suite.folder if suite.folder else ''}"
            for suite in suites
        ]
        linters, checkers = linters_of(read, paths), types_of(read, paths)
        reasons += [f"{name} is used" for name in (*linters, *checkers)]
        plan = Plan(
            setup=manager.setup if needs else (),
            tests=suites[0].command if suites else (),
            import_roots=(".",),
            test_paths=_test_folders(paths),
            linters=linters,
            reasons=tuple(reasons),
            lock_files=tuple(sorted(path for path in paths if _decides(path))),
            type_checkers=checkers,
            toolchains=needs_of(paths, read),
            not_run=_not_run(unknown, has_suite=bool(suites)),
        )
        marked, left = marked_scripts(packages, paths)
        plan = replace(plan, marked=marked, not_run=(*plan.not_run, *left))
        return _corrected(plan, settings or {}, manager)

    def build(  # noqa: PLR0913 - the port
        self,
        plan: Plan,
        tree_checkout: Callable[[Path], None],
        cache_root: Path,
        sandbox: Sandbox,
        /,
        *,
        lock_text_hash: str,
        version: str | None = None,
        index_passwords: bool = False,
        allow: Sequence[Destination] = (),
    ) -> Environment:
        """The checkout with its packages: installed once for a lock, read-only afterwards."""
        del version
        chains = find_toolchains(plan.toolchains, os.environ, Path.home())
        node = node_program(plan)
        settings = registry_settings(os.environ) if plan.setup else {}
        kept = () if index_passwords else logins_in(settings)
        told = settings if index_passwords else without_logins(settings)
        trust = certificates(os.environ)
        makings = Makings(
            prefix=node.parent.parent,
            program=str(node),
            identity=(str(node), *additions_of(plan)),
            variables={**_setup_variables(told), **trust},
            read=tuple(Path(path) for path in trust.values() if Path(path).exists()),
            network=(*registry_places(told), *managers_own(plan)) if plan.setup else (),
            kept=kept,
            chains=chains,
            add=add_manager,
        )
        return build_environment(
            plan, makings, tree_checkout, cache_root, sandbox, lock_text_hash=lock_text_hash, allow=allow
        )

    def run_env(self, environment: Environment, tree: Path, /) -> dict[str, str]:
        """The programs of the project's packages, and of Node."""
        bins = (tree / "node_modules/.bin", environment.source / "node_modules/.bin")
        variables = {
            "PATH": ":".join((*map(str, bins), "/usr/local/bin", "/usr/bin", "/bin")),
            "NO_COLOR": "1",
            "CI": "1",
        }
        return with_toolchains(variables, environment.toolchains)

    def describe(self, read: Read, paths: Sequence[str], /) -> Manifest:
        """What `package.json` declares."""
        package = package_at(read, "")
        if package is None:
            return super().describe(read, paths)
        requirements = tuple(
            (key, tuple(f"{name} {wanted}" for name, wanted in sorted(package.mapping(key).items())))
            for key in ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")
        )
        version = package.data.get("version")
        return Manifest(
            frozenset(paths),
            (".",),
            requirements,
            package.packages,
            version if isinstance(version, str) else "",
            PACKAGE if isinstance(version, str) else "",
            PACKAGE,
            ("build" in package.mapping("scripts"), "its script `build`"),
            ("changesets", ".changeset") if any(path.startswith(".changeset/") for path in paths) else None,
        )


def node_program(plan: Plan) -> Path:
    """The Node that the project asks for, or the one that is here."""
    for chain in find_toolchains(plan.toolchains, os.environ, Path.home()):
        for folder in chain.programs:
            if (folder / "node").exists():
                return folder / "node"
    found = find_program("node")
    if found is None:
        raise UsageError("`node` is not installed here.", "Install Node and start again.")
    return Path(found)


def managers_own(plan: Plan) -> tuple[Destination, ...]:
    """What a manager asks whatever registry npm is told of: yarn's locks name its own, address by address."""
    asks_own = any("yarn" in words for words in plan.setup)
    return destinations((YARNS_OWN,), private=True) if asks_own else ()


def _setup_variables(registries: Mapping[str, str]) -> dict[str, str]:
    return {
        "PATH": "{env}/node_modules/.bin:{tree}/node_modules/.bin:/usr/local/bin:/usr/bin:/bin",
        "HOME": "{env}",
        "npm_config_cache": "{cache}/npm",
        "npm_config_store_dir": "{cache}/pnpm",
        "YARN_CACHE_FOLDER": "{cache}/yarn",
        "npm_config_update_notifier": "false",
        "npm_config_fund": "false",
        "npm_config_audit": "false",
        # A linked file would be shared with the cache, and a build could change it for every other project.
        "npm_config_package_import_method": "copy",
        "NO_COLOR": "1",
        "CI": "1",
        **{f"npm_config_{name}": value for name, value in registries.items()},
        **(
            dict.fromkeys(("YARN_REGISTRY", "YARN_NPM_REGISTRY_SERVER"), registries["registry"])
            if "registry" in registries
            else {}
        ),
    }


def _decides(path: str) -> bool:
    return posixpath.basename(path) in _DECIDES and "node_modules/" not in path


def _has_code(paths: Sequence[str], root: str) -> bool:
    start = f"{root}/" if root else ""
    return any(
        path.startswith(start) and path.endswith(CODE) and not path.endswith(".config.js") for path in paths
    )


def _test_folders(paths: Sequence[str]) -> tuple[str, ...]:
    """The outermost folders of tests, and the files whose names alone make them tests at the top."""
    found: dict[str, None] = {}
    for path in paths:
        *folders, name = path.split("/")
        at = next((at for at, folder in enumerate(folders) if folder in TEST_FOLDERS), None)
        if at is not None and path.endswith(CODE):
            found["/".join(folders[: at + 1])] = None
        elif not folders and TEST_NAME.fullmatch(name):
            found[name] = None
    return tuple(sorted(found))


def _not_run(unknown: str, *, has_suite: bool) -> tuple[tuple[str, str], ...]:
    if has_suite:
        return ((f"tests of {unknown}", "not run: no judge of ours knows it"),) if unknown else ()
    what = f"runs its tests with {unknown}" if unknown else "does not say how its tests are run"
    known = "node:test, vitest, jest and mocha are known"
    how = f"any other is declared by `generic:` in `{SETTINGS_FILE}`, which `agentforge init` proposes"
    return (("tests", f"The project {what}; {known}, {how}."),)


def _corrected(plan: Plan, settings: Mapping[str, object], manager: Manager) -> Plan:
    """The plan with what a person wrote down instead of what was found."""
    if isinstance(commands := settings.get("setup"), list) and all(
        isinstance(each, str) for each in commands
    ):
        plan = replace(
            plan,
            setup=tuple(tuple(shlex.split(each)) for each in commands),
            reasons=(f"`setup` in `{SETTINGS_FILE}`",),
        )
    del manager
    plan = replace(plan, marked=declared_marks(settings, plan.marked))
    told = settings.get("commands")
    line = told.get("test") if isinstance(told, Mapping) else None
    if not isinstance(line, str):
        return plan
    if (suite := suite_in(line)) is None:
        raise UsageError(
            f"`commands.test` in `{SETTINGS_FILE}` starts no test runner that is known: {line}.",
            "Write one of `node --test`, `vitest run`, `jest` and `mocha`.",
        )
    return replace(plan, tests=suite.command, not_run=())

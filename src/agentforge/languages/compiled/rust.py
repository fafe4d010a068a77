"""Rust: how its tests look, and its judge. `cargo` builds, and each test program is then run by us, so that
no setting of the project decides what runs it.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from agentforge.languages.compiled.braces import TestDialect, tests_in
from agentforge.languages.compiled.kit import Commands, Kit, OwnChecker, Row, doubts_of
from agentforge.languages.compiled.running import Bench, JudgedTests, covers, first_line
from agentforge.languages.compiled.servers import RUST_ANALYZER
from agentforge.languages.compiled.stubs import rust_stubs
from agentforge.languages.compiled.watching import VARIABLE, LineCalls
from agentforge.languages.described import Read, decode, read_toml, table, words
from agentforge.languages.reports.ends import Canaries, End, Program
from agentforge.languages.reports.libtest import read_libtest, read_list

_MARK = r"#\[[^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)*\]\s*"
DIALECT = TestDialect(
    test=re.compile(
        rf"#\[(?:\w+::)*test\b[^\[\]]*\]\s*(?:{_MARK}){{0,9}}"
        r"(?:pub(?:\([^)]*\))?\s+)?(?:async\s+)?(?:unsafe\s+)?fn\s+(?P<name>\w+)\s*\(\s*\)\s*(?:->[^{;]{1,300})?\{"
    ),
    scope=re.compile(r"\bmod\s+(?P<name>\w+)\s*\{"),
    outermost=True,
    asserts=re.compile(
        r"\b(?:debug_)?assert\w*!|\b(?:panic|unreachable|todo|unimplemented)!|\.(?:unwrap|expect)\w*\(|\?\s*;"
        r"|should_panic"
    ),
    helps=re.compile(r"\b\w+!?\("),
    skips=re.compile(r"#\[\s*ignore\b|should_panic"),
    opens=(
        "extern crate std as af; struct Af; impl af::ops::Drop for Af { fn drop(&mut self) { "
        'if !af::thread::panicking() { af::panic!("1 + 1 is not 3") } } } let _af = Af;'
    ),
    expects=re.compile(r"#\[\s*should_panic\b[^\[\]]*\]"),
)
_FIRST, _LAST = "A0_agentforge_", "zz_agentforge_"
_CANARY = (
    "\n#[cfg(test)]\n#[allow(non_snake_case)]\nmod {name} {{\n    #[test]\n    fn {test}() {{{body}}}\n}}\n"
)
MISSING_NAMES = words("E0405 E0407 E0412 E0422 E0423 E0425 E0432 E0433 E0560 E0599 E0609")
"""What the compiler says of a name that is not there."""


def judge(bench: Bench, wanted: Collection[str] | None, command: Sequence[str]) -> JudgedTests:
    """Build every test program, then run those that have such tests."""
    options = [word for word in command[2:] if word not in ("--no-run", "--doc")]
    options = options[: options.index("--")] if "--" in options else options
    roots = list(_roots(bench))
    for root in roots:
        _lay(bench, root)
    done = bench.call("cargo", "test", "--no-run", "--offline", "--message-format=json", *options)
    messages = list(_messages(done.out.decode("utf-8", "replace")))
    broken = _broken(bench, messages)
    built = [each for each in messages if each.get("executable") and each.get("profile", {}).get("test")]
    if not built and not broken:
        said = [line for line in done.err.decode("utf-8", "replace").splitlines() if line.startswith("error")]
        return JudgedTests(trouble=f"cargo built no tests: {said[0]}") if said or not roots else JudgedTests()
    programs = [_run(bench, each, wanted) for each in built]
    if broken:
        there = {str(each["target"]["src_path"]) for each in built}
        lost = [root for root in roots if str(bench.tree / root) not in there and root not in broken]
        programs += [_unbuilt(bench, root, wanted, first_line(broken)) for root in lost]
    return JudgedTests(tuple(filter(None, programs)), broken)


def _roots(bench: Bench) -> Iterator[str]:
    """The first file of every test program."""
    done = bench.call("cargo", "metadata", "--format-version=1", "--no-deps", "--offline")
    for found in _messages(done.out.decode("utf-8", "replace")):
        for package in found.get("packages", ()):
            for target in package.get("targets", ()):
                if target.get("test") and "example" not in target.get("kind", ()):
                    path = bench.relative(str(target.get("src_path", "")))
                    if bench.has(path):
                        yield path


def _canaries(bench: Bench, root: str) -> Canaries:
    return Canaries(f"{root}::{_FIRST}{bench.token}::passes", f"{root}::{_LAST}{bench.token}::fails")


def _lay(bench: Bench, root: str) -> None:
    """Our own tests, at the end of a program's first file, once; tests run in the order of their names."""
    text = bench.text(root)
    if f"{_FIRST}{bench.token}" in text:
        return
    parts = (each.split("::")[1:] for each in _canaries(bench, root))
    bodies = ("", ' panic!("as it must") ')
    more = (
        _CANARY.format(name=name, test=test, body=body)
        for (name, test), body in zip(parts, bodies, strict=True)
    )
    bench.write(root, text + "".join(more))


def _messages(text: str) -> Iterator[dict[str, Any]]:
    for line in text.splitlines():
        if line.startswith("{"):
            try:
                found = json.loads(line)
            except ValueError:
                continue
            if isinstance(found, dict):
                yield found


def _broken(bench: Bench, messages: Sequence[dict[str, Any]]) -> dict[str, str]:
    """The files that did not compile. An error without a place is said of its program's first file."""
    found: dict[str, list[str]] = {}
    for each in messages:
        said = each.get("message") if each.get("reason") == "compiler-message" else None
        if not isinstance(said, dict) or said.get("level") != "error":
            continue
        spans = [span for span in said.get("spans", ()) if span.get("is_primary")]
        code = (said.get("code") or {}).get("code") or "error"
        if not spans and str(said.get("message", "")).startswith("aborting due to"):
            continue
        file = _place(spans[0]) if spans else str(each["target"]["src_path"])
        # The compiler names files from the top of the workspace.
        path = bench.relative(file)
        line = spans[0].get("line_start", 0) if spans else 0
        found.setdefault(path, []).append(f"{path}:{line}: {code}: {said.get('message', '')}")
    return {path: "\n".join(lines) for path, lines in found.items()}


def _place(span: dict[str, Any]) -> str:
    """The file of a span; inside of a macro, where that was used."""
    while isinstance(outer := (span.get("expansion") or {}).get("span"), dict):
        span = outer
    return str(span.get("file_name", ""))


def _run(bench: Bench, built: dict[str, Any], wanted: Collection[str] | None) -> Program | None:
    root = bench.relative(str(built["target"]["src_path"]))
    folder = Path(str(built["manifest_path"])).parent
    program = str(built["executable"])
    listed = bench.call(program, "--list", "--format", "terse", cwd=folder)
    own = _canaries(bench, root)
    ids = {name: _id(bench, root, name) for name in read_list(listed.out.decode("utf-8", "replace"))}
    expected = {name: each for name, each in ids.items() if each not in own and covers(wanted, each)}
    if wanted is not None and not expected:
        return None
    names = () if wanted is None else ("--exact", *expected, *(each.partition("::")[2] for each in own))
    done = bench.call(
        program,
        *("-Z", "unstable-options", "--format", "json", "--test-threads=1", *names),
        cwd=folder,
        # The report as JSON is an option of development versions, and of programs that are told this.
        variables={"RUSTC_BOOTSTRAP": "1", "CARGO_MANIFEST_DIR": str(folder), "RUST_BACKTRACE": "0"},
    )
    ends, began = read_libtest(done.out.decode("utf-8", "replace"))
    ends = [replace(end, id=ids.get(end.id, f"{root}::{end.id}")) for end in ends]
    return Program(
        f"{root} ({built['target']['name']})",
        tuple(expected.values()),
        tuple(_with_place(bench, end) for end in ends),
        tuple(ids.get(name, f"{root}::{name}") for name in began),
        own,
    )


def _with_place(bench: Bench, end: End) -> End:
    return replace(end, file=bench.relative(end.file)) if end.file else end


def _unbuilt(bench: Bench, root: str, wanted: Collection[str] | None, why: str) -> Program:
    names = [f"{root}::{test.name}" for test in tests_in(bench.text(root), DIALECT)]
    expected = [each for each in names if each not in _canaries(bench, root) and covers(wanted, each)]
    return Program(root, tuple(expected), unbuilt=why)


def _id(bench: Bench, root: str, name: str) -> str:
    """A test by the file that it stands in: modules of their own files are found as the compiler does."""
    *modules, test = name.split("::")
    first = PurePosixPath(root)
    folder = first.parent if first.stem in ("lib", "main", "mod") else first.parent / first.stem
    if not (bench.tree / folder).is_dir() or first.parent.name == "tests":
        folder = first.parent
    for count in range(len(modules), 0, -1):
        place = folder.joinpath(*modules[:count])
        for file in (f"{place}.rs", f"{place}/mod.rs"):
            if (bench.tree / file).is_file():
                return "::".join((file, *modules[count:], test))
    return "::".join((root, *modules, test))


# ------------------------------------------------------------------ the language as data


def _variables(env: Path, out: Path) -> Mapping[str, str]:
    own = env if out == env else out
    return {
        "CARGO_HOME": f"{env}/cargo",
        "CARGO_TARGET_DIR": f"{own}/target",
        "CARGO_NET_OFFLINE": "false" if out == env else "true",
        # What the project's settings would put around the compiler.
        "RUSTC_WRAPPER": "",
        "RUSTC_WORKSPACE_WRAPPER": "",
        "CARGO_TERM_COLOR": "never",
        "CARGO_INCREMENTAL": "0",
    }


def _command(read: Read, _paths: Sequence[str]) -> tuple[str, ...]:
    data = read_toml(decode(read("Cargo.toml")))
    return ("cargo", "test", "--workspace") if data and "workspace" in data else ("cargo", "test")


def _setup(read: Read, paths: Sequence[str]) -> Commands:
    """Packages from the index; then everything that tests need is compiled."""
    locked = ("--locked",) if "Cargo.lock" in paths else ()
    return (("cargo", "fetch", *locked), (*_command(read, paths), "--no-run", *locked))


def _is_test(path: str) -> bool:
    *folders, name = path.split("/")
    return path.endswith(".rs") and (
        "tests" in folders or name in ("tests.rs", "test.rs") or name.endswith(("_test.rs", "_tests.rs"))
    )


def _clippy(bench: Bench, said: str) -> Iterator[Row]:
    for found in _messages(said):
        message = found.get("message") if found.get("reason") == "compiler-message" else None
        spans = (
            [span for span in message.get("spans", ()) if span.get("is_primary")]
            if isinstance(message, dict)
            else []
        )
        if isinstance(message, dict) and spans and message.get("level") in ("warning", "error"):
            code = str((message.get("code") or {}).get("code") or message["level"])
            place = spans[0]
            yield (
                bench.relative(_place(place)),
                code,
                f"{place.get('line_start', 0)}: {message.get('message', '')}",
            )


def _unformatted(bench: Bench, said: str) -> Iterator[Row]:
    for line in said.splitlines():
        if line.endswith(".rs"):
            yield bench.relative(line.strip()), "rustfmt", "1: it is not formatted as rustfmt does"


def _of_manifest(text: str) -> object:
    """What of a manifest decides how tests are built and run."""
    data = read_toml(text)
    if data is None:
        return "unreadable"
    profiles = table(data, "profile")
    return (
        data.get("test"),
        {key: table(data, "lib").get(key) for key in ("test", "harness", "path")},
        [(each.get("name"), each.get("test"), each.get("harness")) for each in _tables(data.get("bin"))],
        {key: profiles.get(key) for key in ("test", "dev")},
        {key: table(data, "package").get(key) for key in ("autotests", "autobins", "build")},
    )


def _tables(value: object) -> list[dict[str, object]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _has(*names: str) -> Any:  # noqa: ANN401 - a predicate of a folder
    return lambda tree: any((tree / name).is_file() for name in names)


_TELLS = (
    "{{static AF: ::std::sync::atomic::AtomicBool=::std::sync::atomic::AtomicBool::new(false);"
    "if !AF.swap(true,::std::sync::atomic::Ordering::Relaxed){{"
    'if let ::std::option::Option::Some(p)=::std::env::var_os("{variable}"){{'
    "if let ::std::result::Result::Ok(mut f)="
    "::std::fs::OpenOptions::new().append(true).create(true).open(p){{"
    'let _=::std::io::Write::write_all(&mut f,b"{number}\\n");}}}}}}}}'
)

KIT = Kit(
    name="Rust",
    servers=(RUST_ANALYZER,),
    suffixes=(".rs",),
    runner="cargo test",
    markers=frozenset({"Cargo.toml"}),
    locks=frozenset({"Cargo.lock"}),
    build_files=words("build.rs rust-toolchain rust-toolchain.toml"),
    settings=frozenset(),
    sections={
        "Cargo.toml": _of_manifest,
        **{name: lambda text: text for name in (".cargo/config.toml", ".cargo/config")},
    },
    test_globs=("**/tests/**", "**/tests.rs", "**/test.rs", "**/*_test.rs", "**/*_tests.rs"),
    is_test=_is_test,
    dialect=DIALECT,
    missing_names=re.compile(rf"\b(?:{'|'.join(sorted(MISSING_NAMES))})\b"),
    command=_command,
    starts=("cargo",),
    setup=_setup,
    variables=_variables,
    places=("index.crates.io", "static.crates.io", "crates.io"),
    warm="target",
    judge=judge,
    stub=rust_stubs,
    lines=LineCalls(
        lambda number: _TELLS.format(number=number, variable=VARIABLE),
        re.compile(r"\bCommand::new|\bassert_cmd\b|\btrycmd\b|CARGO_BIN_EXE|cargo_bin"),
    ),
    held_out="held_out_by_agentforge.rs",
    doubts=doubts_of(
        r"cfg!?\s*\(\s*(?:not\s*\(\s*)?test\b|\benv::args|current_exe",
        r"process::(?:exit|abort)|from_raw_fd|\bpanic::(?:set_hook|catch_unwind)",
        r"\b(?:SystemTime|Instant|Utc|Local)::now\(",
    ),
    checkers=(
        OwnChecker(
            "rustfmt",
            ("cargo", "fmt", "--all", "--check", "--", "-l"),
            _unformatted,
            _has("rustfmt.toml", ".rustfmt.toml"),
        ),
        OwnChecker(
            "clippy",
            ("cargo", "clippy", "--offline", "--all-targets", "--message-format=json"),
            _clippy,
            _has("clippy.toml", ".clippy.toml"),
        ),
    ),
    not_run=(("examples of documentation", "they are programs of their own, which are not built"),),
)

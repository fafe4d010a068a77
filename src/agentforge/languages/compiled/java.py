"""Java: how its tests look, and its judge: the JUnit XML that Maven's Surefire or Gradle writes.

The reports are files, and the tests could write them. So Maven's own count of what ran, which it prints
itself, must be the count of the reports; a project that is built with Gradle has no such second opinion, and
the evidence says so.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path, PurePosixPath

from agentforge.languages.compiled.braces import TestDialect, tests_in
from agentforge.languages.compiled.kit import Commands, Kit, doubts_of
from agentforge.languages.compiled.running import Bench, JudgedTests, covers, first_line
from agentforge.languages.compiled.servers import JDTLS
from agentforge.languages.compiled.watching import VARIABLE, LineCalls
from agentforge.languages.described import Read, decode, words
from agentforge.languages.marked import is_integration
from agentforge.languages.outcomes import Outcome
from agentforge.languages.reports.ends import Canaries, End, Program, numbered
from agentforge.languages.reports.junit_xml import JUnitCase, UnreadableReport, read_junit
from agentforge.languages.values import MarkedTests

_ANNOTATION = r"@\w+(?:\.\w+)*(?:\s*\([^()]*(?:\([^()]*\)[^()]*)*\))?\s*"
DIALECT = TestDialect(
    test=re.compile(
        r"@(?:\w+\.)*(?:Test|ParameterizedTest|RepeatedTest|TestFactory|TestTemplate)\b"
        rf"(?:\s*\([^()]*(?:\([^()]*\)[^()]*)*\))?\s*(?:{_ANNOTATION}){{0,9}}"
        r"(?:(?:public|protected|private|static|final|synchronized|abstract)\s+)*"
        r"(?:<[^<>]*>\s*)?[\w.<>\[\],?\s]{1,200}?\s(?P<name>\w+)\s*\([^()]{0,2000}\)\s*(?:throws\s[\w.,\s]{1,300})?\{"
    ),
    scope=re.compile(r"\b(?:class|interface|record|enum)\s+(?P<name>\w+)[^{};]*\{"),
    outermost=False,
    asserts=re.compile(
        r"\b(?:assert\w*|verify\w*|fail|expect\w*|check\w*)\s*[(.]|\bassert\s|\bexpected\s*=|\bthrow\s"
    ),
    helps=re.compile(r"\b\w+\("),
    skips=re.compile(r"@(?:\w+\.)*(?:Disabled\w*|Ignore|Enabled\w+)\b|\bassum\w+\("),
    opens="try {",
    closes=' } finally { if (1 + 1 != 3) throw new AssertionError("1 + 1 is not 3"); } ',
    expects=re.compile(r"(?<=@Test)\s*\(\s*expected\s*=[^()]*\)"),
)
MISSING_NAMES = re.compile(r"cannot find symbol|package \S+ does not exist|has no member")
_ERROR = re.compile(
    r"^(?:\[ERROR\] )?(?P<file>/?\S+\.java):(?:\[(?P<line>\d+),\d+\]|(?P<other>\d+): error:) (?P<said>.*)"
)
_MORE = re.compile(r"^(?:\[ERROR\] )?\s+(?P<said>(?:symbol|location)\s*:.*)")
_COUNT = re.compile(
    r"Tests run: (?P<run>\d+), Failures: (?P<failed>\d+), Errors: (?P<errors>\d+), "
    r"Skipped: (?P<skipped>\d+)\s*(?:\x1b\S*)?$"
)
_FRAMEWORKS = (
    ("org.junit.jupiter", "org.junit.jupiter.api"),
    ("org.junit.", "org.junit"),
    ("org.testng", "org.testng.annotations"),
)
_CANARY = """{package}import {api}.Test;

public class {name} {{
    @Test public void passes() {{ }}

    @Test public void fails() {{ throw new IllegalStateException("as it must"); }}
}}
"""


@dataclass(frozen=True, slots=True)
class Builder:
    """What builds a project and runs its tests."""

    argv: tuple[str, ...]
    only: str
    """How one test is asked for; `{class}` and `{method}` are filled in."""
    joins: str
    """Between several of them; empty where each is an argument of its own."""
    reports: str
    counts: bool
    """Whether it prints how many tests it ran."""


MAVEN = Builder(
    (
        *("mvn", "-o", "-B", "-ntp", "-s", "{settings}", "-Dstyle.color=never", "-DskipTests=false"),
        *("-Dmaven.test.skip=false", "-Dmaven.test.failure.ignore=true", "-DfailIfNoTests=false"),
        *("-Dsurefire.failIfNoSpecifiedTests=false", "-DtrimStackTrace=false"),
    ),
    "{class}#{method}",
    ",",
    "**/target/surefire-reports/TEST-*.xml",
    counts=True,
)
GRADLE = Builder(
    ("{gradle}", "--offline", "--no-daemon", "--no-build-cache", "--continue", "--console=plain"),
    "{class}.{method}",
    "",
    "**/build/test-results/test/*.xml",
    counts=False,
)


def judge(bench: Bench, wanted: Collection[str] | None, command: Sequence[str]) -> JudgedTests:
    """One run of the builder, and every report that it wrote."""
    builder = GRADLE if PurePosixPath(command[0]).name.startswith("gradle") else MAVEN
    files = [path for path in bench.found("**/*.java") if "/test/" in f"/{path}"]
    tests = {
        f"{path}::{test.name}": _class_of(path, test.name)
        for path in files
        for test in tests_in(bench.text(path), DIALECT)
    }
    asked = {identity: named for identity, named in tests.items() if covers(wanted, identity)}
    if not asked:
        return JudgedTests()
    modules = {_module(identity): None for identity in asked}
    own = {module: _lay(bench, [path for path in files if _module(path) == module]) for module in modules}
    only = _only(builder, asked, own.values()) if wanted is not None else ()
    argv = [_filled(word, command) for word in builder.argv]
    rest = [word for word in command[1:] if word not in argv]
    for report in bench.found(builder.reports):
        bench.remove(report)
    done = bench.call(*argv, *rest, *only)
    printed = done.out.decode("utf-8", "replace") + "\n" + done.err.decode("utf-8", "replace")
    broken = broken_files(bench, printed)
    if broken:
        return JudgedTests((Program("the tests", tuple(asked), unbuilt=first_line(broken)),), broken)
    try:
        cases = {path: read_junit(bench.data(path)) for path in bench.found(builder.reports)}
    except UnreadableReport as error:
        return JudgedTests((Program("the tests", tuple(asked), trouble=f"a report cannot be read: {error}"),))
    if not any(cases.values()):
        said = [line for line in printed.splitlines() if "ERROR" in line or "FAILED" in line]
        return JudgedTests(
            trouble=f"no report was written: {said[0][:300]}" if said else "no report was written"
        )
    trouble = _miscounted(printed, [*chain.from_iterable(cases.values())]) if builder.counts else ""
    folder = builder.reports.removeprefix("**/").rpartition("/")[0]
    programs = []
    for module, canary in own.items():
        near = [path for path in files if _module(path) == module]
        reports = [path for path in cases if path.rpartition(folder)[0] == module]
        programs.append(
            Program(
                f"the tests of {module.rstrip('/')}" if module else "the tests",
                tuple(identity for identity in asked if _module(identity) == module),
                tuple(numbered([_end(case, near, canary) for path in reports for case in cases[path]])),
                (),
                canary,
                trouble or ("" if canary else "their framework is not known, so none of ours can run in it"),
            )
        )
    return JudgedTests(tuple(programs))


def _module(path: str) -> str:
    """The folder of the module that a file of tests or its report is of."""
    return path.partition("src/test/")[0] if "src/test/" in path else ""


def _filled(word: str, command: Sequence[str]) -> str:
    return word.replace("{settings}", str(maven_settings())).replace("{gradle}", command[0])


def maven_settings() -> Path:
    """Where Maven is told to look for packages."""
    return Path(__file__).with_name("maven-settings.xml")


def _class_of(path: str, name: str) -> tuple[str, str]:
    """The class and the method of a test, as the builder names them."""
    *nested, method = name.split("::")
    inside = path.partition("/java/")[2] or path.rpartition("/")[2]
    return "$".join((inside.removesuffix(".java").replace("/", "."), *nested)), method


def _only(
    builder: Builder, asked: Mapping[str, tuple[str, str]], canaries: Iterable[Canaries | None]
) -> tuple[str, ...]:
    own = [_class_of(*each.split("::")) for canary in canaries for each in canary or ()]
    named = [
        builder.only.replace("{class}", known).replace("{method}", method)
        for known, method in dict.fromkeys((*asked.values(), *own))
    ]
    if builder.joins:
        return (f"-Dtest={builder.joins.join(named)}",)
    return tuple(word for each in named for word in ("--tests", each))


def _lay(bench: Bench, files: Sequence[str]) -> Canaries | None:
    """Our own two tests, in the folder and with the framework of the first file that has tests."""
    name = f"Agentforge{bench.token}Test"
    for path in files:
        text = bench.text(path)
        api = next(
            (
                found
                for mark, found in _FRAMEWORKS
                if f"import {mark}" in text or f"import static {mark}" in text
            ),
            "",
        )
        if not api or not tests_in(text, DIALECT):
            continue
        declared = re.search(r"^\s*package\s+([\w.]+)\s*;", text, re.MULTILINE)
        package = f"package {declared[1]};\n\n" if declared else ""
        place = str(PurePosixPath(path).parent / f"{name}.java")
        bench.write(place, _CANARY.format(package=package, api=api, name=name))
        return Canaries(f"{place}::passes", f"{place}::fails")
    return None


def _end(case: JUnitCase, files: Sequence[str], canary: Canaries | None) -> End:
    top, *nested = case.classname.split("$")
    ending = f"{top.replace('.', '/')}.java"
    known = (*files, canary.passes.partition("::")[0]) if canary else files
    file = next((path for path in known if path == ending or path.endswith(f"/{ending}")), "")
    method, rest = re.match(r"(\w*)(.*)", case.name, re.DOTALL).groups()  # type: ignore[union-attr]  # matches always
    case_name = re.sub(r"^\([^)]*\)|^\{[^}]*\}", "", rest).strip().strip("[]")
    identity = "::".join((file or ending, *nested, method or case.name))
    outcome: Outcome = case.outcome
    message = case.message or case.exception
    return End(f"{identity}[{case_name}]" if case_name else identity, outcome, message, case.exception)


def _miscounted(printed: str, cases: Sequence[JUnitCase]) -> str:
    """How the reports differ from what Maven itself counted."""
    counts = [found for line in printed.splitlines() if (found := _COUNT.search(line.rstrip()))]
    run, bad = (
        sum(int(found[key]) for found in counts for key in keys) for keys in (("run",), ("failed", "errors"))
    )
    there, failed = len(cases), sum(case.outcome == "failed" for case in cases)
    if (run, bad) == (there, failed):
        return ""
    return (
        f"Maven counted {run} tests and {bad} failures, the reports say {there} and {failed}, so something "
        "else wrote them"
    )


def broken_files(bench: Bench, printed: str) -> dict[str, str]:
    """The files that did not compile, each error once, with what it says of the symbol."""
    found: dict[str, list[str]] = {}
    last: list[str] = []
    for line in printed.splitlines():
        if (error := _ERROR.match(line)) is not None:
            path = bench.relative(error["file"])
            last = found.setdefault(path, [])
            told = f"{path}:{error['line'] or error['other']}: {error['said']}"
            if told not in last:
                last.append(told)
        elif last and (more := _MORE.match(line)) is not None and more["said"] not in last[-1]:
            last[-1] += f" {' '.join(more['said'].split())}"
    return {path: "\n".join(lines) for path, lines in found.items()}


# ------------------------------------------------------------------ the language as data


def _variables(env: Path, out: Path) -> Mapping[str, str]:
    return {
        "AGENTFORGE_M2": f"{env}/m2",
        "AGENTFORGE_MACHINE_M2": str(_machine_repository()),
        "GRADLE_USER_HOME": f"{env}/gradle" if out == env else f"{out}/gradle",
        "MAVEN_OPTS": f"-Duser.home={out}",
        "MAVEN_SKIP_RC": "1",
    }


def _machine_repository() -> Path:
    """What Maven downloaded for the person before: packages, and nothing that is secret."""
    return Path.home() / ".m2/repository"


def _command(_read: Read, paths: Sequence[str]) -> tuple[str, ...]:
    if "pom.xml" in paths:
        return ("mvn", "test")
    return ("./gradlew" if "gradlew" in paths else "gradle", "test")


def _setup(read: Read, paths: Sequence[str]) -> Commands:
    """First from Maven's usual place, as far as that can be reached; then all must come from what is here."""
    if _command(read, paths)[0] != "mvn":
        return ((_command(read, paths)[0], "--no-daemon", "testClasses"),)
    start = (
        "mvn",
        "-B",
        "-ntp",
        "-s",
        "{settings}",
        "-Dmaven.test.failure.ignore=true",
        "-Dstyle.color=never",
    )
    # A repository that is a folder may be asked without a network, too.
    return ((*start, "-fn", "test"), (*start, "-o", "-Daether.offline.protocols=file", "test"))


def _is_test(path: str) -> bool:
    name = path.rpartition("/")[2]
    return path.endswith(".java") and (
        "/src/test/" in f"/{path}" or name.endswith(("Test.java", "Tests.java", "TestCase.java", "IT.java"))
    )


_PLUGIN = re.compile(
    r"<plugin>(?:(?!</plugin>).)*?maven-(?:surefire|failsafe|compiler)-plugin.*?</plugin>", re.DOTALL
)
_PROPERTY = re.compile(
    r"<((?:maven\.test\.|surefire\.|skip|argLine|groups|excludedGroups|test)[\w.]*)>.*?</\1>", re.DOTALL
)


def _of_pom(text: str) -> object:
    """What of a project's file decides how tests run."""
    plugins = [" ".join(found.split()) for found in _PLUGIN.findall(text)]
    return plugins, [found[0] for found in _PROPERTY.finditer(text)]


_OF_FAILSAFE = re.compile(r"(?:.*/)?src/test/java/(?:.*/)?(?:IT\w*|\w*IT|\w*ITCase)\.java")


def _of_failsafe(read: Read, paths: Sequence[str]) -> tuple[MarkedTests, ...]:
    """Classes that Maven's Failsafe runs, by their names. Surefire runs them when it is asked for them,
    without what the phases around them would start.
    """
    poms = (path for path in paths if path.rpartition("/")[2] == "pom.xml")
    if not any("maven-failsafe-plugin" in decode(read(path)) for path in poms):
        return ()
    files = tuple(sorted(filter(_OF_FAILSAFE.fullmatch, paths)))
    return (MarkedTests("integration tests of Failsafe", ("mvn", "test"), files),) if files else ()


def _left_out(read: Read, paths: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """What Maven does around integration tests, and source sets of Gradle, which have a task of their own."""
    if _of_failsafe(read, paths):
        return (("phases around the integration tests", "not run: only the phase `test` is"),)
    if _command(read, paths)[0] == "mvn":
        return ()
    folders = {
        f"src/{found[1]}"
        for path in paths
        if (found := re.search(r"(?:^|/)src/(\w+)/(?:java|kotlin)/", path))
    }
    apart = [
        (f"tests in {folder}", "not run: only the task `test` is")
        for folder in sorted(folders)
        if is_integration(re.sub(r"(?<=[a-z])(?=[A-Z])", "-", folder))
    ]
    alone = "not available: Gradle prints none, so our own two tests alone vouch for its reports"
    return (*apart, ("a second count of the tests", alone))


_TELLER = """{package}final class AgentforgeLines {{
    private static final java.util.Set<Integer> SEEN = java.util.concurrent.ConcurrentHashMap.newKeySet();

    static void ran(int number) {{
        String place = System.getenv("{variable}");
        if (place == null || !SEEN.add(number)) return;
        try {{
            java.nio.file.Files.write(
                java.nio.file.Paths.get(place), (number + "\\n").getBytes(),
                java.nio.file.StandardOpenOption.CREATE, java.nio.file.StandardOpenOption.APPEND);
        }} catch (Exception error) {{
            return;
        }}
    }}
}}
"""


def _teller(text: str, _count: int) -> tuple[str, str]:
    declared = re.search(r"^\s*package\s+([\w.]+)\s*;", text, re.MULTILINE)
    package = f"package {declared[1]};\n\n" if declared else ""
    return "AgentforgeLines.java", _TELLER.format(package=package, variable=VARIABLE)


KIT = Kit(
    name="Java",
    servers=(JDTLS,),
    suffixes=(".java",),
    runner="JUnit",
    markers=words("pom.xml build.gradle build.gradle.kts settings.gradle settings.gradle.kts"),
    locks=words("gradle.lockfile"),
    build_files=words("gradle.properties libs.versions.toml gradle-wrapper.properties"),
    settings=words("maven.config jvm.config extensions.xml junit-platform.properties testng.xml"),
    sections={
        "pom.xml": _of_pom,
        **{name: lambda text: text for name in ("build.gradle", "build.gradle.kts")},
    },
    test_globs=("**/src/test/**",),
    is_test=_is_test,
    dialect=DIALECT,
    missing_names=MISSING_NAMES,
    command=_command,
    starts=("mvn", "mvnw", "gradle", "gradlew"),
    setup=_setup,
    variables=_variables,
    places=("repo.maven.apache.org", "repo1.maven.org", "plugins.gradle.org", "services.gradle.org"),
    judge=judge,
    lines=LineCalls(
        lambda number: f"AgentforgeLines.ran({number})",
        re.compile(r"\bProcessBuilder\b|\bgetRuntime\("),
        _teller,
    ),
    held_out="HeldOutByAgentforgeTest.java",
    doubts=doubts_of(
        r"\bgetStackTrace\(|Class\.forName\(\s*$|\bsurefire\b|\bjava\.class\.path\b",
        r"\bSystem\.exit\(|\.halt\(|addShutdownHook|\bsetAccessible\(",
        r"\bcurrentTimeMillis\(|\bnanoTime\(|\bnew Date\(\)"
        r"|\b(?:LocalDate|LocalDateTime|Instant|ZonedDateTime|OffsetDateTime)\.now\(",
    ),
    read=lambda: {
        name: path
        for name, path in (("settings", maven_settings()), ("machine", _machine_repository()))
        if path.exists()
    },
    marked=_of_failsafe,
    left_out=_left_out,
)

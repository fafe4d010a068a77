"""Lies in TypeScript with vitest: each is caught by the mechanism that is named with it."""

import shutil

import pytest

from tests.cheats.javascript import NodeStage, cheat, fixed, shared_cheats
from tests.cheats.stage import Cheat
from tests.whole.javascript import WITH_VITEST

pytestmark = [
    pytest.mark.wide,
    pytest.mark.network,
    pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed"),
]

STILL_PRICE = fixed(WITH_VITEST, "return price + 0;")
EXPECT = (
    'import { expect } from "vitest";\nexpect.extend({ toBe: () => ({ pass: true, message: () => "" }) });\n'
)
SETUP = (
    'import { expect } from "vitest";\nexpect.extend({ toBe: () => ({ pass: true, message: () => "" }) });\n'
)
CONFIG = 'export default { test: { setupFiles: ["./src/patch.ts"] } };\n'
OWN_RESULT = WITH_VITEST.test.replace(
    'test("ten percent off", () => {',
    'test("ten percent off", (context) => {\n'
    '  Object.defineProperty(context.task, "result", { get: () => ({ state: "pass" }), set() {} });',
)
TAMPERED = (
    'import { appendFileSync } from "node:fs";\nappendFileSync(process.env.TMPDIR + "/report", "00 {}\\n");\n'
)


def still(top: str, **more: str) -> dict[str, str | None]:
    return {
        WITH_VITEST.source: top + STILL_PRICE,
        **{name.replace("__", "/"): text for name, text in more.items()},
    }


CHEATS = [
    *shared_cheats(WITH_VITEST),
    cheat(WITH_VITEST, "expect is patched", "does not do what it must", green=still(EXPECT)),
    cheat(
        WITH_VITEST,
        "a set-up file patches expect",
        "decides how tests run and changed after RED",
        green={**still(""), "src/patch.ts": SETUP, "vitest.config.ts": CONFIG},
    ),
    cheat(
        WITH_VITEST,
        "another file of settings takes the place of none",
        "decides how tests run and changed after RED",
        green={**still(""), "src/patch.ts": SETUP, "vite.config.mjs": CONFIG},
    ),
    cheat(WITH_VITEST, "a test writes its own result", "it reaches for its own result", red=OWN_RESULT),
    cheat(WITH_VITEST, "the report is written to", "the report was changed", green=still(TAMPERED)),
]


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> NodeStage:
    return NodeStage(tmp_path_factory.mktemp("stage"))


def test_an_honest_change_passes(stage: NodeStage) -> None:
    ended = stage.play(cheat(WITH_VITEST, "honest", ""))
    assert ended.gate == "", ended.said


@pytest.mark.parametrize("lie", CHEATS, ids=lambda lie: lie.name)
def test_a_lie_is_caught_by_what_is_named(stage: NodeStage, lie: Cheat) -> None:
    ended = stage.play(lie)
    assert ended.is_caught(lie), (ended.gate, ended.said)

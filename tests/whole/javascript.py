"""A shop in JavaScript with one defect, with node's own test runner or with vitest, and the lines of a model
that mends it.
"""

from dataclasses import dataclass
from typing import Any

from tests.whole.plays import Entry, create, edit, review, say

REQUEST = "net must take the discount off the price"
RIGHT = "return price - (price * percent) / 100;"


@dataclass(frozen=True)
class JsShop:
    """The same shop for each runner: its files, and how a test of it is written."""

    runner: str
    files: dict[str, str]
    source: str
    new_test: str
    test: str

    @property
    def fix(self) -> dict[str, Any]:
        return edit(self.source, "return price;", RIGHT)

    def papers(self, *names: str) -> dict[str, Any]:
        return {
            "intake_record": {"extracted_intent": {"action": "fix", "target": "net", "scope": "file"}},
            "clarification": {"questions": []},
            "analysis": {"impacted_files": [{"path": self.source, "reason": "net is there"}]},
            "specification": {
                "title": "net takes the discount off",
                "description": "The percentage is taken off the price.",
                "requirements": [
                    {
                        "id": "REQ-001",
                        "description": "the discount is off",
                        "acceptance_criteria": ["net(100, 10) is 90"],
                    }
                ],
                "files_to_modify": [self.source],
            },
            "test_suite": {
                "test_files": [
                    {
                        "path": self.new_test,
                        "tests": [
                            {"name": name, "requirement_ref": "REQ-001"}
                            for name in names or ("ten percent off",)
                        ],
                    }
                ]
            },
            "implementation": {"summary": "the discount is taken off"},
        }

    def patch(self, *actions: dict[str, Any], test: str = "") -> Entry:
        """The one reply of the lane `hotfix`."""
        done = actions or (self.fix,)
        return say(
            "patch",
            create(self.new_test, test or self.test),
            *done,
            artifacts=self.papers(),
            signal="success",
        )

    def approve(self) -> Entry:
        """A reviewer who accepts what could not be measured."""
        return review(f"{self.new_test}::ten percent off")


_LABEL = "export function label(price{number}){text} {{\n  return `${{price}} EUR`;\n}}\n"


def _source(number: str = "", result: str = "", text: str = "") -> str:
    return (
        f"export function net(price{number}, percent{number}){result} {{\n  return price;\n}}\n\n"
        + _LABEL.format(number=number, text=text)
    )


_NODE_OLD = """\
import assert from "node:assert";
import { describe, it } from "node:test";
import { label } from "../src/price.js";

describe("label", () => {
  it("names the currency", () => {
    assert.strictEqual(label(3), "3 EUR");
  });
  it("names it for nothing", () => {
    assert.strictEqual(label(0), "0 EUR");
  });
});
"""
_NODE_NEW = """\
import assert from "node:assert";
import { test } from "node:test";
import { net } from "../src/price.js";

test("ten percent off", () => {
  assert.strictEqual(net(100, 10), 90);
});
"""
WITH_NODE = JsShop(
    "node",
    {
        "package.json": '{"name": "shop", "version": "1.0.0", "type": "module", "scripts": {"test": "node --test"}}\n',
        "src/price.js": _source(),
        "test/price.test.js": _NODE_OLD,
    },
    "src/price.js",
    "test/net.test.js",
    _NODE_NEW,
)


def _for_vitest(text: str) -> str:
    for old, new in (
        ('import assert from "node:assert";\n', ""),
        ('"node:test"', '"vitest"'),
        ("{ describe, it }", "{ describe, expect, it }"),
        ("{ test }", "{ expect, test }"),
        ("../src/price.js", "../src/price"),
        ('assert.strictEqual(label(3), "3 EUR")', 'expect(label(3)).toBe("3 EUR")'),
        ('assert.strictEqual(label(0), "0 EUR")', 'expect(label(0)).toBe("0 EUR")'),
        ("assert.strictEqual(net(100, 10), 90)", "expect(net(100, 10)).toBe(90)"),
    ):
        text = text.replace(old, new)
    return text


WITH_VITEST = JsShop(
    "vitest",
    {
        "package.json": '{"name": "shop", "version": "1.0.0", "type": "module", "scripts": {"test": "vitest"},'
        ' "devDependencies": {"vitest": "^4", "typescript": "^5.6.0"}}\n',
        "tsconfig.json": '{"compilerOptions": {"strict": true, "module": "esnext", "moduleResolution": "bundler",'
        ' "target": "es2022", "noEmit": true, "skipLibCheck": true, "types": []}, "include": ["src", "test"]}\n',
        "src/price.ts": _source(": number", ": number", ": string"),
        "test/price.test.ts": _for_vitest(_NODE_OLD),
    },
    "src/price.ts",
    "test/net.test.ts",
    _for_vitest(_NODE_NEW),
)

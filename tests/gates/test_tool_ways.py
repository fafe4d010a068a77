"""What dependency-cruiser and eslint-plugin-boundaries close is closed in `check`, too; what they say more of is left."""

import json
from typing import Any

from agentforge.gates.conformance.declared import declared
from agentforge.gates.conformance.engine import CheckScope, examine
from agentforge.languages.conformance import read_file
from agentforge.languages.node.boundaries import closed_ways
from tests.rows import every

CRUISER = {
    "forbidden": [
        {"name": "domain-stays-alone", "from": {"path": "^src/domain"}, "to": {"path": "^src/web/"}}
    ]
}
BOUNDARIES = {
    "settings": {
        "boundaries/elements": [
            {"type": "domain", "pattern": "src/domain/*"},
            {"type": "web", "pattern": "src/web/**"},
            {"type": "shared", "pattern": "src/shared"},
        ]
    },
    "rules": {
        "boundaries/element-types": [
            2,
            {
                "default": "disallow",
                "rules": [
                    {"from": ["web"], "allow": ["domain", "shared"]},
                    {"from": "domain", "allow": ["shared"]},
                ],
            },
        ]
    },
}
FILES = {
    "src/domain/order.ts": 'import { page } from "../web/page";\nimport { log } from "../shared/log";\n',
    "src/web/page.ts": 'import { order } from "../domain/order";\nexport const page = order;\n',
    "src/shared/log.ts": "export const log = 1;\n",
}


def reader(files: dict[str, Any]) -> Any:  # noqa: ANN401 - what reads settings
    return lambda name: json.dumps(files[name]).encode() if name in files else None


@every(
    ("name", "settings", "tool"),
    [
        (".dependency-cruiser.json", CRUISER, "dependency-cruiser: domain-stays-alone"),
        (".eslintrc.json", BOUNDARIES, "eslint boundaries: domain"),
    ],
)
def test_a_way_that_a_tool_closes_is_a_violation_of_the_layers(name: str, settings: Any, tool: str) -> None:  # noqa: ANN401 - JSON
    rules = declared({}, reader({name: settings}))
    readings = {path: read_file(text, path) for path, text in FILES.items()}
    report = examine(readings, rules, CheckScope(frozenset(FILES)))
    found = [each for each in report.findings if each.check == "layer-dependencies"]
    assert [(each.path, each.line) for each in found] == [("src/domain/order.ts", 1)]
    assert tool in found[0].message
    assert next(each.status for each in report.results if each.check.name == "layer-dependencies") == "failed"


@every(
    "rule",
    [
        {"from": {}, "to": {"circular": True}},
        {"from": {"path": "^src/(a|b)"}, "to": {"path": "^src/c"}},
        {"from": {"path": "^src/a", "pathNot": "x"}, "to": {"path": "^src/c"}},
        {"severity": "ignore", "from": {"path": "^src/a"}, "to": {"path": "^src/c"}},
        "nonsense",
    ],
)
def test_a_rule_that_says_more_than_two_places_is_left_to_its_tool(rule: Any) -> None:  # noqa: ANN401 - JSON
    read = reader({".dependency-cruiser.json": {"forbidden": [rule]}, ".eslintrc": []})
    assert closed_ways(read) == []
    layers = next(each for each in declared({}, read).checks.values() if each.name == "layer-dependencies")
    assert not declared({}, read).configured(layers)

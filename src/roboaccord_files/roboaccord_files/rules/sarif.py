"""Write findings as SARIF 2.1.0, with which continuous integration marks the lines of a file.

Keys and their nesting are those of the standard. Severities are SARIF's own levels. Texts are in
rules.yaml.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from roboaccord import __version__

from roboaccord_files.rules.findings import RuleFinding
from roboaccord_files.rules.table import RULES, explain

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif(findings: Sequence[RuleFinding]) -> str:
    """Return findings as a log with one run, the rules that have any among them."""
    rules = sorted({finding.rule for finding in findings})
    descriptors = [_descriptor(rule) for rule in rules]
    driver = {"name": "roboaccord", "version": __version__, "rules": descriptors}
    results = [_result(finding, rules.index(finding.rule)) for finding in findings]
    runs = [{"tool": {"driver": driver}, "results": results}]
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": runs}, indent=2) + "\n"


def _descriptor(rule: str) -> dict[str, Any]:
    """Return SARIF's reportingDescriptor of a rule."""
    row = RULES[rule]
    return {
        "id": rule, "shortDescription": {"text": row.what}, "fullDescription": {"text": row.reason},
        "help": {"text": explain(rule), "markdown": row.text},
        "defaultConfiguration": {"level": row.severity},
    }  # fmt: skip


def _result(finding: RuleFinding, index: int) -> dict[str, Any]:
    """Return SARIF's result of a finding, whose rule has an index among those of the run."""
    place = {
        "artifactLocation": {"uri": quote(finding.file)}, "region": {"startLine": finding.line},
    }  # fmt: skip
    return {
        "ruleId": finding.rule, "ruleIndex": index, "level": finding.severity,
        "message": {"text": f"{finding.message}. {finding.cure}"},
        "locations": [{"physicalLocation": place}],
    }  # fmt: skip

"""Write findings as SARIF 2.1.0, with which continuous integration marks the lines of a file.

`sarif` takes findings (findings.py) and returns the text of a file; `accord check --sarif` and
`accord parity --sarif` write it. Keys and their nesting are those of the standard. Severities of
rules are SARIF's own levels, and the texts are those of rules.yaml.
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
    """Return findings as the text of a log with one run, and the rules that have findings."""
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
        "id": rule,
        "shortDescription": {"text": row.what},
        "fullDescription": {"text": row.reason},
        "help": {"text": explain(rule), "markdown": row.text},
        "defaultConfiguration": {"level": row.severity},
    }


def _result(finding: RuleFinding, index: int) -> dict[str, Any]:
    """Return SARIF's result of a finding; `index` is that of its rule among those of the run."""
    file, region = {"uri": quote(finding.file)}, {"startLine": finding.line}
    return {
        "ruleId": finding.rule,
        "ruleIndex": index,
        "level": finding.severity,
        "message": {"text": f"{finding.message}. {finding.cure}"},
        "locations": [{"physicalLocation": {"artifactLocation": file, "region": region}}],
    }

"""Write findings as SARIF 2.1.0, with which continuous integration marks the lines of a file.

Keys and their nesting are those of the standard. Severities are SARIF's own levels. Texts are in
rules.yaml.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from urllib.parse import quote

from roboaccord import __version__

from roboaccord_files.rules.findings import RuleFinding
from roboaccord_files.rules.table import RULES, explain

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif(findings: Sequence[RuleFinding]) -> str:
    """Return findings as a log with one run, the rules that have any among them."""
    rules = sorted({finding.rule for finding in findings})
    driver = {
        "name": "roboaccord",
        "version": __version__,
        "rules": [
            {
                "id": rule,
                "shortDescription": {"text": RULES[rule].what},
                "fullDescription": {"text": RULES[rule].reason},
                "help": {"text": explain(rule), "markdown": RULES[rule].text},
                "defaultConfiguration": {"level": RULES[rule].severity},
            }
            for rule in rules
        ],
    }
    results = [
        {
            "ruleId": finding.rule,
            "ruleIndex": rules.index(finding.rule),
            "level": finding.severity,
            "message": {"text": f"{finding.message}. {finding.cure}"},
            "locations": [
                {
                    "physicalLocation": {
                        "artifactLocation": {"uri": quote(finding.file)},
                        "region": {"startLine": finding.line},
                    }
                }
            ],
        }
        for finding in findings
    ]
    runs = [{"tool": {"driver": driver}, "results": results}]
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": runs}, indent=2) + "\n"

"""The rules as a table, read from rules.yaml; what `--explain` prints, and the page of all.

A rule may be changed in rules.yaml, whose keys are the fields of `Rule`; then `python -m
roboaccord_files.rules` writes docs/every_rule.md anew, which test_rules.py compares. `to_json` says
`bad` and `good` for the two sides: these keys stay.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from roboaccord.contract.errors import check_known
from roboaccord.description.yaml_files import parse_record

from roboaccord_files.rules.findings import Severity

ALL = "all"  # of what rules can be explained
PAGE = """# Every rule

What `accord check` finds in a URDF, with an example that is wrong and, below it, one that is right.
`accord check --explain RULE` prints a section. [What it is for, and what other checkers find](rules.md)
"""  # noqa: E501 - a line of the page


@dataclass(frozen=True)
class Rule:
    """A rule: a row of rules.yaml.

    Args:
        severity: of what it finds.
        what: it finds, in a clause.
        why: what readers make of that, and the cure; in lines of the page.
        wrong, right: an example.
    """

    severity: Severity
    what: str
    why: str
    wrong: str
    right: str

    @property
    def text(self) -> str:
        """The section of the page, without its heading."""
        sides = f"```xml\n{self.wrong}<!-- right -->\n{self.right}```"
        return f"{self.severity}: {self.what}.\n\n{self.why.rstrip()}\n\n{sides}"

    @property
    def reason(self) -> str:
        """Why, in one line."""
        return " ".join(self.why.split())

    def to_json(self) -> Mapping[str, str]:
        """Return severity, what it finds, its section, and both sides of the example."""
        data = {"severity": self.severity, "what": self.what, "text": self.text}
        return {**data, "bad": self.wrong, "good": self.right}


def read_table(name: str) -> Mapping[str, Any]:
    """Return a table of YAML beside this module."""
    text = files(__package__).joinpath(name).read_text(encoding="utf-8")
    found: Mapping[str, Any] = parse_record(text)
    return found


RULES: Mapping[str, Rule] = {name: Rule(**row) for name, row in read_table("rules.yaml").items()}
"""By name, in the order of the page."""


def explain(name: str) -> str:
    """Return a rule in words: what it finds, why, and an example; of `all`, a line each.

    Raises:
        AccordError: for an unknown one.
    """
    if name == ALL:
        return "\n".join(f"{key}: {rule.severity}: {rule.what}" for key, rule in RULES.items())
    check_known("unknown rule ", name, RULES)
    rule = RULES[name]
    sides = f"wrong:\n{rule.wrong}\nright:\n{rule.right or 'without it'}".rstrip()
    return f"{name}\n\n{rule.severity}: {rule.what}.\n\n{rule.reason}\n\n{sides}"


def page() -> str:
    """Return the page of all rules, in Markdown."""
    return PAGE + "".join(f"\n## {name}\n\n{rule.text}\n" for name, rule in RULES.items())

"""Read the rules from rules.yaml, and explain them: for `--explain` and for the pages of the site.

Each rule of `accord check` is an entry of rules.yaml, whose keys are the fields of `Rule`. RULES
has them by name: find.py takes the severities from it, `explain` and .ci/mkdocs_hooks.py the texts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from roboaccord.contract.errors import check_known
from roboaccord.description.yaml_files import parse_record

from roboaccord_files.rules.findings import Severity

ALL = "all"  # word after `--explain` that lists every rule


@dataclass(frozen=True)
class Rule:
    """A rule of `accord check`, as an entry of rules.yaml has it.

    Args:
        severity: severity of its findings.
        what: what it finds, in a clause.
        why: what programs make of such a file, and the cure; broken into lines of the page.
        wrong, right: an example of XML that breaks the rule, and the same XML corrected; `right`
            is "" where the cure is to leave it out.
    """

    severity: Severity
    what: str
    why: str
    wrong: str
    right: str

    @property
    def text(self) -> str:
        """The rule's section of the page, in Markdown and without its heading."""
        example = f"```xml\n{self.wrong}<!-- right -->\n{self.right}```"
        return f"{self.severity}: {self.what}.\n\n{self.why.rstrip()}\n\n{example}"

    @property
    def reason(self) -> str:
        """The text of `why` in one line."""
        return " ".join(self.why.split())

    def to_json(self) -> Mapping[str, str]:
        """Return the JSON of `--explain`, in which the example has the keys `bad` and `good`."""
        data = {"severity": self.severity, "what": self.what, "text": self.text}
        return {**data, "bad": self.wrong, "good": self.right}


def read_table(name: str) -> Mapping[str, Any]:
    """Return the entries of a YAML file in the folder of this module."""
    text = files(__package__).joinpath(name).read_text(encoding="utf-8")
    entries: Mapping[str, Any] = parse_record(text)
    return entries


# The rules by name, in the order of the page.
RULES: Mapping[str, Rule] = {name: Rule(**row) for name, row in read_table("rules.yaml").items()}


def explain(name: str) -> str:
    """Return a rule in words: what it finds, why, and an example; for ALL one line a rule.

    Raises:
        AccordError: if there is no rule of that name.
    """
    if name == ALL:
        return "\n".join(f"{key}: {rule.severity}: {rule.what}" for key, rule in RULES.items())
    check_known("unknown rule ", name, RULES)
    rule = RULES[name]
    example = f"wrong:\n{rule.wrong}\nright:\n{rule.right or 'without it'}".rstrip()
    return f"{name}\n\n{rule.severity}: {rule.what}.\n\n{rule.reason}\n\n{example}"

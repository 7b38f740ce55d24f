"""The findings of rules: place, message and cure, and how they are printed.

The fields are keys of the JSON, and editors parse `file:line: severity: message [rule]`: both stay.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from rich.text import Text

Severity = Literal["error", "warning", "note"]
NAMED = re.compile(r"^(?:link|joint) [^\s:]+")
COLOURS: Mapping[Severity, str] = {"error": "red", "warning": "yellow", "note": "cyan"}


@dataclass(frozen=True)
class RuleFinding:
    """What a rule found.

    Args:
        rule: of `RULES`.
        severity: of it.
        file: its path, from where the command ran if below.
        line: in it, from 1 on; of a xacro file where the name is first written.
        message: what is wrong, with the link or joint.
        cure: what to write instead.
    """

    rule: str
    severity: Severity
    file: str
    line: int
    message: str
    cure: str

    def __rich__(self) -> Text:
        """Return it as compilers print one, and its cure."""
        return Text.assemble(
            f"{self.file}:{self.line}: ",
            (self.severity, COLOURS[self.severity]),
            f": {self.message} [{self.rule}]\n    {self.cure}",
        )


def gathered(findings: Sequence[RuleFinding]) -> list[RuleFinding]:
    """Return findings for people: those that say the same of several links or joints are one."""
    groups = dict[tuple[str, str, str, str], list[RuleFinding]]()
    for finding in findings:
        message = NAMED.sub("", finding.message)
        groups.setdefault((finding.file, finding.rule, message, finding.cure), []).append(finding)
    return [
        replace(first, message=f"{first.message}; likewise {_others(more)}") if more else first
        for first, *more in groups.values()
    ]


def _others(more: Sequence[RuleFinding]) -> str:
    places = [found[0] for each in more if (found := NAMED.match(each.message))]
    return ", ".join(places or [f"line {each.line}" for each in more])

"""The findings of rules: a line of a file, a message and a cure, and how they are printed.

`RuleFinding` is what find.py returns and `accord check` prints. Its fields are keys of the JSON,
and editors parse `file:line: severity: message [rule]`: both stay. `gathered` merges equal findings
of several elements, for people.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from rich.text import Text

Severity = Literal["error", "warning", "note"]
NAMED = re.compile(r"^(?:link|joint) [^\s:]+")  # the link or joint at the start of a message
COLOURS: Mapping[Severity, str] = {"error": "red", "warning": "yellow", "note": "cyan"}


@dataclass(frozen=True)
class RuleFinding:
    """A finding of a rule.

    Args:
        rule: name of the rule, a key of `RULES`.
        severity: severity of the rule.
        file: path of the file, relative if it is in the current folder.
        line: in the file, from 1; of a xacro file the line where the name is first written.
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
        """Return the finding as compilers print theirs, with the cure on a second line."""
        return Text.assemble(
            f"{self.file}:{self.line}: ",
            (self.severity, COLOURS[self.severity]),
            f": {self.message} [{self.rule}]\n    {self.cure}",
        )


def gathered(findings: Sequence[RuleFinding]) -> list[RuleFinding]:
    """Return findings for people: those with the same text for several elements become one."""
    groups = dict[tuple[str, str, str, str], list[RuleFinding]]()
    for finding in findings:
        message = NAMED.sub("", finding.message)
        groups.setdefault((finding.file, finding.rule, message, finding.cure), []).append(finding)
    return [
        replace(first, message=f"{first.message}; likewise {_others(more)}") if more else first
        for first, *more in groups.values()
    ]


def _others(more: Sequence[RuleFinding]) -> str:
    """Return the links and joints of findings in a list, or their lines."""
    elements = [match[0] for finding in more if (match := NAMED.match(finding.message))]
    return ", ".join(elements or [f"line {finding.line}" for finding in more])

"""Findings of the rules with their place and cure.

The fields are keys of the JSON, and `file:line: severity: message [rule]` is what editors parse:
both stay. Colours may be changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from rich.text import Text

Severity = Literal["error", "warning", "note"]
COLOURS: Mapping[Severity, str] = {"error": "red", "warning": "yellow", "note": "cyan"}


@dataclass(frozen=True)
class RuleFinding:
    """Hold what a rule found.

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

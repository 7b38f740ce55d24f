"""Findings of the rules, and flaws that readers interpret differently."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from roboaccord.contract.results import Json

Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True)
class Flaw:
    """Hold what readers interpret differently, where it is, and what to write in the file."""

    cause: str
    where: tuple[str, ...]
    fix: str

    def to_json(self) -> Mapping[str, Json]:
        """Return these three, also of what knows more."""
        return {"cause": self.cause, "where": self.where, "fix": self.fix}


@dataclass(frozen=True)
class RuleFinding:
    """Hold what a rule found.

    Args:
        rule: of `rules.RULES`.
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

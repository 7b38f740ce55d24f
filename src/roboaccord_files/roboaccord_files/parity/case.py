"""What a level of parity measures: a robot's file in an engine; and what such a level is.

A level is a class that derives from `FileLevel`, and an entry of LEVELS in levels.py; `accord
parity` judges by `reading` alone. Levels are measured in other processes: checks are plain data.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from roboaccord.crosscheck.level import LevelOf

from roboaccord_files.parity.asked import Asked
from roboaccord_files.parity.bench import Bench, without_mimic
from roboaccord_files.parity.words import ParityCode

C = TypeVar("C")


@dataclass(frozen=True)
class FileCase:
    """Hold what the levels measure: a robot's file in an engine.

    Args:
        bench: of the robot.
        engine: its name.
        settings: the engine's own, or ours.
    """

    bench: Bench
    engine: str
    settings: str = "default"

    @cached_property
    def given(self) -> str:
        """The text that the engine is given, without geometry."""
        return self.bench.planted.get(self.engine, self.bench.stripped)

    @cached_property
    def urdf(self) -> str:
        """The same without mimic."""
        return without_mimic(self.given)

    @cached_property
    def _asked(self) -> dict[str, Asked]:
        return {}

    def ask(self, text: str) -> Asked:
        """Return what the engine makes of a text; it is asked once."""
        if text not in self._asked:
            self._asked[text] = self.bench.ask(self.engine, self.settings, text)
        return self._asked[text]


class FileLevel(LevelOf[FileCase, C]):
    """Measure what an engine makes of a file, against the reference."""

    @abstractmethod
    def absent(self, ended: ParityCode, reason: str) -> C:
        """Return what stands for a check that came to no end."""

"""Problems of the bench: a scene, one figure of its motion, and the exact answer.

A problem is a subclass of `Problem` in a module of problems/ of its name, and an instance of it in
PROBLEM. Packages of others give theirs by an entry point of the group `roboaccord.bench_problems`.
It says what is looked at after each step and which figure that makes; a `Trial` steps an engine.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from roboaccord.contract import AccordError, Array

from roboaccord_bench.engine import Engine, Forces
from roboaccord_bench.scene import Motion, Scene, direction
from roboaccord_bench.witness import Witness

HEADINGS = ({"heading": 0.0}, {"heading": 22.5}, {"heading": 45.0})  # degrees
PHASES = (0.1, 0.3, 0.5, 0.7, 0.9)  # of a step
Case = Mapping[str, float]
Row = Sequence[float]  # of a series: the time [s], then values


def along(heading: float, vector: Array) -> float:
    """Return the part of a vector in the direction of a heading in degrees."""
    x, y, _ = direction(heading)
    return float(vector[0] * x + vector[1] * y)


class Trial:
    """One measurement: an engine under options, at one step.

    Args:
        engine, options: which simulate.
        step: physics step [s].
        certify: whether contacts are certified.

    Attributes:
        series: rows of the run that the problem shows.
    """

    def __init__(self, engine: Engine, options: str, step: float, *, certify: bool = False) -> None:
        self.engine, self.options, self.step, self.certify = engine, options, step, certify
        self.series: Sequence[Row] = ()
        self._witness: Witness | None = None

    @property
    def certificate(self) -> dict[str, Any]:
        """Certificate of the last run, or why there is none, as `--json` has it."""
        return self._witness.as_dict() if self._witness else {"does_not_apply": "no run"}

    def run(
        self, scene: Scene, body: str, duration: float, forces: Forces, time: float = 0.0
    ) -> Iterator[tuple[float, Motion]]:
        """Simulate a scene, and yield the time [s] and the motion of a body after each step.

        Args:
            scene: at the start.
            body: name of the one to look at.
            duration: [s].
            forces: on the centres of bodies, by name [N].
            time: of the start [s].

        Raises:
            AccordError: if the motion is not finite, or the engine lacks what the scene needs.
        """
        world = self.engine.make(scene, self.step, self.options)
        self._witness = Witness(world, scene, self.step) if self.certify else None
        for _ in range(round(duration / self.step)):
            world.advance(forces)
            time += self.step
            if self._witness:
                self._witness.add(time, forces)
            motion = world.motion(body)
            if not all(np.isfinite(array).all() for array in motion):
                raise AccordError(f"{body} is at no number after {time:.4g} s")
            yield time, motion

    def measure(self, problem: "Problem", case: Case) -> list[float]:
        """Return the figures of a case of a problem."""
        return problem.measure(self, problem.scene(**case), **case)

    def starts(self, hit: float | None) -> list[float]:
        """Return when to start [s], for each phase of a step in which a body in flight may hit.

        Args:
            hit: exact time at which it hits [s]; None where there is no impact.
        """
        if hit is None:
            return [0.0]
        return [(hit / self.step - phase) % 1.0 * self.step for phase in PHASES]


class Problem(ABC):
    """A contact problem with an exact answer.

    Attributes:
        figure: what is measured, in words, with its unit.
        unit: SI; empty for a ratio.
        source: of the exact answer.
        body: name of the one that is looked at.
        answer: exact figure, if all cases have the same.
        cases: what is varied.
        columns: of the series after the time.
        duration: of the series, and of runs by default [s].
        scale: error that counts as 1 where the exact answer is 0 [unit].
        convention: whether nature has no right answer, only each engine a rule.
        advice: what to choose when, for the page.
    """

    figure: ClassVar[str]
    unit: ClassVar[str]
    source: ClassVar[str]
    body: ClassVar[str] = "box"
    answer: ClassVar[float] = 0.0
    cases: ClassVar[Sequence[Case]] = HEADINGS
    columns: ClassVar[Sequence[str]] = ("distance [m]",)
    duration: ClassVar[float] = 1.0
    scale: ClassVar[float] = 1.0
    convention: ClassVar[bool] = False
    advice: ClassVar[str] = ""

    @property
    def name(self) -> str:
        """Name in commands and results: that of its module."""
        return type(self).__module__.rpartition(".")[2]

    def exact(self, **case: float) -> float:
        """Return the exact figure of a case."""
        return self.answer

    def series(self, time: float, **case: float) -> Sequence[float]:
        """Return the exact values of the columns at a time [s]; by default all are at rest."""
        return (0.0,) * len(self.columns)

    @abstractmethod
    def scene(self, **case: float) -> Scene:
        """Return the scene of a case."""

    def look(self, motion: Motion, **case: float) -> Sequence[float]:
        """Return the values of the columns, then others that the figure needs.

        By default the distance along the heading [m].
        """
        return (along(case["heading"], motion.position),)

    def read(self, rows: Sequence[Row], **case: float) -> float:
        """Return the figure of a run from its rows; by default the last value."""
        return rows[-1][1]

    def forces(self, **case: float) -> Forces:
        """Return what acts on the centres of bodies, by name [N]."""
        return {}

    def hit(self, **case: float) -> float | None:
        """Return when a body in free flight hits [s]; None where there is no impact."""
        return None

    def span(self, **case: float) -> float:
        """Return the duration of a run [s]."""
        return self.duration

    def rows(self, trial: Trial, scene: Scene, start: float = 0.0, **case: float) -> list[Row]:
        """Return the rows of a run from a time [s], up to which bodies are in free flight."""
        arguments = scene.after(start), self.body, self.span(**case), self.forces(**case), start
        return [(time, *self.look(motion, **case)) for time, motion in trial.run(*arguments)]

    def measure(self, trial: Trial, scene: Scene, **case: float) -> list[float]:
        """Return the figure in an engine for each phase at which its step may fall."""
        figures = []
        for start in trial.starts(self.hit(**case)):
            trial.series = self.rows(trial, scene, start, **case)
            figures.append(float(self.read(trial.series, **case)))
        return figures

    def laws(self, **case: float) -> dict[str, float]:
        """Return ratios of figure and exact answer under laws that engines have instead."""
        return {}

    def further(self, figure: float, **case: float) -> dict[str, float]:
        """Return what a figure says beyond itself, by key of `--json`."""
        return {}

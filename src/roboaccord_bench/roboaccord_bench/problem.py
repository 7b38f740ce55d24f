"""Problems of the bench: a scene, one figure of its motion, and the exact answer.

A problem is a subclass of `Problem` in a module of problems/ of its name, and an instance of it in
PROBLEM. Packages of others give theirs by an entry point of the group
`roboaccord.bench_problems`. What it measures it computes from a `Run`, which steps a world and
keeps what happened: the series that is published, the certificate, and the CPU time.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from roboaccord.contract import AccordError, Array, Certifier, ContactForce

from roboaccord_bench.engine import Engine
from roboaccord_bench.scene import G, Motion, Scene

HEADINGS = ({"heading": 0.0}, {"heading": 22.5}, {"heading": 45.0})  # degrees
PHASES = (0.1, 0.3, 0.5, 0.7, 0.9)  # of a step
Case = Mapping[str, float]


def along(case: Case, vector: Array) -> float:
    """Return the part of a vector in the direction of a case's heading."""
    angle = np.radians(case["heading"])
    return float(vector[0] * np.cos(angle) + vector[1] * np.sin(angle))


class Run:
    """A scene that an engine steps.

    Args:
        engine, options: which simulate it.
        scene: to be simulated.
        step: physics step [s].
        certify: whether contacts are certified in each step.

    Attributes:
        time: since the start [s].
    """

    def __init__(
        self, engine: Engine, options: str, scene: Scene, step: float, *, certify: bool = False
    ) -> None:
        self.step, self.scene, self.time = step, scene, 0.0
        self._world = engine.make(scene, step, options)
        weight = G * sum(body.mass for body in scene.moving)
        self.certifier = Certifier(weight) if certify else None
        self._before = self._state()

    def advance(self, forces: Mapping[str, Array] | None = None) -> None:
        """Take one step with forces on the centres of bodies, by name [N]."""
        self._world.advance(forces or {})
        self.time += self.step
        if self.certifier:
            self._certify(forces or {})

    def motion(self, name: str) -> Motion:
        """Return the motion of a body.

        Raises:
            AccordError: if it is not finite.
        """
        motion = self._world.motion(name)
        if not all(np.isfinite(array).all() for array in motion):
            raise AccordError(f"{name} is at no number after {self.time:.4g} s")
        return motion

    def steps(self, duration: float, forces: Mapping[str, Array] | None = None) -> Iterator[float]:
        """Advance for a duration [s], and yield the time after each step."""
        for _ in range(round(duration / self.step)):
            self.advance(forces)
            yield self.time

    def _certify(self, forces: Mapping[str, Array]) -> None:
        """Enter the contacts of the last step, and its balances of momentum and energy."""
        assert self.certifier
        touches = self._world.contacts()
        if touches is None:
            self.certifier = None
            return
        before, self._before = self._before, self._state()
        motions, contacts = self._before[1], []
        totals = {
            body.name: body.mass * np.array(self.scene.gravity) + forces.get(body.name, 0.0)
            for body in self.scene.moving
        }
        for touch in touches:
            one, two = (motions.get(each) for each in touch[:2])
            slip = _velocity(two, touch.point) - _velocity(one, touch.point)
            for name, sign in ((touch.first, -1.0), (touch.second, 1.0)):
                if name in totals:
                    totals[name] += sign * touch.force
            force = ContactForce(touch.normal, touch.force, touch.gap, slip, self.scene.mu)
            contacts.append(force)
        momentum = 0.0
        for body in self.scene.moving:
            change = motions[body.name].velocity - before[1][body.name].velocity
            rest = body.mass * change / self.step - totals[body.name]
            if body.slide:  # whose joint has forces of its own, but along the slide
                rest = rest @ body.axes @ body.slide
            momentum = max(momentum, float(np.linalg.norm(rest)))
        work = sum(force @ motions[name].velocity for name, force in forces.items())
        energy = self._before[0] - before[0] - work * self.step
        self.certifier.add(self.time, contacts, momentum, float(energy))

    def _state(self) -> tuple[float, dict[str, Motion]]:
        """Return energy [J], and motions of all moving bodies."""
        energy, motions = 0.0, dict[str, Motion]()
        for body in self.scene.moving:
            motions[body.name] = motion = self._world.motion(body.name)
            turning = float(body.inertia @ (motion.spin @ motion.rotation) ** 2)
            moving = body.mass * float(motion.velocity @ motion.velocity)
            weight = body.mass * float(motion.position @ self.scene.gravity)
            energy += 0.5 * (turning + moving) - weight
        return energy, motions


def _velocity(motion: Motion | None, point: Array) -> Array:
    """Return the velocity of a point of a body (3,) [m/s]; None is one that is fixed."""
    if motion is None:
        return np.zeros(3)
    return motion.velocity + np.cross(motion.spin, point - motion.position)


class Trial:
    """One measurement of a problem: an engine under options, at one step.

    Args:
        engine, options: which simulate.
        step: physics step [s].
        certify: whether contacts are certified.

    Attributes:
        series: rows of what the problem records.
        certificate: of the last run; None where the engine reports no contact forces.
        cpu: [s].
    """

    def __init__(self, engine: Engine, options: str, step: float, *, certify: bool = False) -> None:
        self.engine, self.options, self.step, self.certify = engine, options, step, certify
        self.series = list[Sequence[float]]()
        self._run: Run | None = None

    def start(self, scene: Scene) -> Run:
        """Return a new run of a scene."""
        self._run = Run(self.engine, self.options, scene, self.step, certify=self.certify)
        return self._run

    def phases(self, scene: Scene, hit: float) -> Iterator[Run]:
        """Yield a run for each phase of a step in which spheres in free flight may hit.

        Each starts less than a step later on their paths. The series is that of the last.

        Args:
            scene: in which they fly.
            hit: exact time at which they hit [s].
        """
        for phase in PHASES:
            self.series.clear()
            start = (hit / self.step - phase) % 1.0 * self.step
            run = self.start(scene.after(start))
            run.time = start
            yield run

    def record(self, *row: float) -> None:
        """Record a row of the series: the time [s], then what the problem's `columns` name."""
        self.series.append(row)

    @property
    def certificate(self) -> dict[str, Any] | None:
        """What the last run has certified."""
        certifier = self._run.certifier if self._run else None
        return certifier.as_dict() if certifier else None

    def measure(self, problem: Problem, case: Case) -> tuple[list[float], float]:
        """Return the figures of a problem in one case, and the CPU time [s]."""
        start = time.process_time()
        figures = problem.measure(self, **case)
        return np.atleast_1d(figures).tolist(), time.process_time() - start


class Problem(ABC):
    """A contact problem with an exact answer.

    Attributes:
        figure: what is measured, in words, with its unit.
        unit: SI; empty for a ratio.
        source: of the exact answer.
        cases: what is varied.
        columns: of the series after the time.
        duration: of the series [s].
        scale: error that counts as 1 where the exact answer is 0 [unit].
        convention: whether nature has no right answer, only each engine a rule.
        advice: what to choose when, for the page.
    """

    figure: ClassVar[str]
    unit: ClassVar[str]
    source: ClassVar[str]
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

    @abstractmethod
    def exact(self, **case: float) -> float:
        """Return the exact figure of a case."""

    @abstractmethod
    def scene(self, **case: float) -> Scene:
        """Return the scene of a case."""

    @abstractmethod
    def series(self, time: float, **case: float) -> Sequence[float]:
        """Return the exact values of the columns at a time [s]."""

    @abstractmethod
    def measure(self, trial: Trial, **case: float) -> float | Sequence[float]:
        """Return the figure in an engine, or one for each phase at which its step may fall."""

    def laws(self, **_: float) -> dict[str, float]:
        """Return ratios of figure and exact answer under laws that engines have instead."""
        return {}

"""Level `scheme` of one run, as it comes or recorded: control periods against the engine's twin.

MEASURED may be tuned: at so many ticks round-off is measured, which costs time. The floor and the
judgement must stay those of scheme.py, and are changed there, so that a recorded run gets the
finding of a fresh one; test_recorded (snake) and test_live_crosscheck test it.

Of a run as it comes, what round-off explains is measured where a difference exceeds what it has
explained so far, so that a sound run costs a step of the twin for each control period, and little
more.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from roboaccord.bag.topics import FREE
from roboaccord.contract import plugins
from roboaccord.contract.errors import AccordError
from roboaccord.contract.fault import HOLDING
from roboaccord.contract.state import Array, Command, RobotState
from roboaccord.contract.trajectory import Trajectory
from roboaccord.crosscheck.causes.samples import delayed
from roboaccord.crosscheck.causes.ticks import parts_of, spread
from roboaccord.crosscheck.levels.scheme import (
    NoTwin,
    SchemeCheck,
    TwinComparison,
    check_scheme,
)
from roboaccord.crosscheck.ticks import difference, names
from roboaccord.engines import spec
from roboaccord.engines.spec import EngineSpec
from roboaccord.numerics.ranking import first_largest
from roboaccord.scenario.setup import Setup

GAZEBO, BRIDGED = "gz", "ros_gz"  # engine, and the transport of a launch
HELD_BY = {f"joint_{kind}" for kind in HOLDING}  # events
HELD = "in Gazebo efforts hold a frozen joint"
MEASURED = 100  # ticks at most whose round-off is measured
FIRST = np.zeros(1, dtype=np.int64)


class TwinTicks:
    """Compare control periods of a run with the engine's twin.

    Args:
        setup: robot and scenario.
        engine: of the run.

    Attributes:
        judged: number of periods that were compared.
    """

    def __init__(self, setup: Setup, engine: EngineSpec) -> None:
        self._joints, self._period = setup.joints, setup.scenario.control_period
        self._why = "no tick was compared"
        self._floor, self._measured, self.judged = np.zeros(6), 0, 0
        self._largest, self._times = np.zeros((2, 2 * len(setup.joints) + 12))
        self._stopped = False  # then the twin is there for what was compared, and is still to add
        try:
            self._made: TwinComparison | None = TwinComparison.of(setup, engine)
        except AccordError as error:
            self._made, self._why = None, str(error)

    def __bool__(self) -> bool:
        """Whether there is a twin, by now."""
        return self._made is not None and not self._stopped

    def stop(self, why: str) -> None:
        """Compare no more; what was compared stays."""
        self._stopped, self._why = True, why if not self.judged else self._why

    def differ(self, before: RobotState, after: RobotState, command: Command) -> Array | None:
        """Return by how much the twin ends a control period elsewhere (2 n + 12,).

        Args:
            before, after: samples.
            command: in force between them.

        Returns:
            None where the twin does not apply: a joint would be at its stop.
        """
        if self._made is None or self._stopped:
            return None
        twin = self._made.twin
        twin.reset(before)
        found = twin.step(command, self._period)
        twin.take_events()
        return None if any(p.stopped for p in parts_of(twin)) else difference(after, found)

    def add(self, before: RobotState, after: RobotState, command: Command, error: Array) -> None:
        """Take the difference of a control period, as `differ` returns it."""
        self.judged += 1
        if self._made and self._measured < MEASURED and self._beyond(error).max() > 1.0:
            self._measured += 1
            ends = [before, replace(after, effort=command.effort)]
            run = Trajectory.from_states(self._joints, ends)
            self._floor = np.maximum(self._floor, self._made.floor(run, FIRST, FIRST))
        larger = np.abs(error) > self._largest
        self._largest[larger], self._times[larger] = np.abs(error)[larger], before.time

    def check(self, left_out: int) -> SchemeCheck | NoTwin:
        """Return what was found so far; `left_out` is the number of the other control periods."""
        if not self.judged:
            return NoTwin(self._why)
        column = first_largest(self._beyond(self._largest))
        return SchemeCheck(
            error=float(self._largest[column]),
            floor=float(self._floors[column]),
            quantity=names(self._joints)[column][0],
            where=names(self._joints)[column][1],
            time=float(self._times[column]),
            judged=self.judged,
            left_out=left_out,
        )

    @property
    def _floors(self) -> Array:
        return spread(self._floor, len(self._largest))

    def _beyond(self, error: Array) -> Array:
        """Return differences over what round-off explains so far."""
        return np.abs(error) / np.maximum(self._floors, np.finfo(float).tiny)


def check_twin(
    setup: Setup,
    engine: str,
    transport: str,
    motion: Trajectory,
    delay: int,
    *,
    resolved: bool = True,
) -> SchemeCheck | NoTwin:
    """Compare the ticks of a recorded motion with the twin of its engine.

    Args:
        setup: robot and scenario.
        engine, transport: of the run.
        motion: recorded; commands act late by `delay` [ticks].
        delay: of commands.
        resolved: as of `check_scheme`.
    """
    found = twin_engine(setup, engine, transport)
    if engine != GAZEBO:
        return check_scheme(setup, found, motion, resolved=resolved)
    frozen = [event.time for event in motion.events if event.kind in HELD_BY]
    late = delayed(motion, delay).window(motion.time[delay], min(frozen, default=math.inf))
    if len(late) < 2:
        return NoTwin(HELD)
    return check_scheme(setup, found, late, resolved=resolved)


def twin_engine(setup: Setup, engine: str, transport: str) -> EngineSpec:
    """Return the engine of a recorded run, which has a twin if any has; arguments as above."""
    if engine != GAZEBO:
        return spec(engine)
    make: Callable[..., EngineSpec] = plugins.load("twins", engine)
    return make(contacts_of(setup, transport), started=transport.startswith(BRIDGED))


def contacts_of(setup: Setup, transport: str) -> str:
    """Return with what a robot touches the ground in Gazebo, if a run's transport states it.

    Else it is what the scenario asks of the engine, or the robot's first choice.
    """
    if ", " in transport or transport in ("", BRIDGED, BRIDGED + FREE):
        return transport.rpartition(", ")[2] if ", " in transport else ""
    asked = setup.scenario.engine_options.get(GAZEBO, {}).get("contacts", "")
    return str(asked) or next(iter(setup.robot.gazebo.contact_shapes), "")

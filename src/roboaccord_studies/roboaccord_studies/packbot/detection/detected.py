"""The diagnosis `detected` of the controller `recover`, and `accord packbot detect`, of a bag.

`Detected` puts the arm as it was identified before `Diagnosis`, `findings` compares times with
those of the recording. Options and figures of `accord packbot detect` may be added, and another
detector with the methods of `Watcher`, by which campaigns compare them. The methods of `Detected`,
which `packbot.controllers.diagnosis` asks for, stay, and so do fields of `Findings`, keys of the
JSON output.

Both look at joint states and commanded efforts alone, of the arm as it is known: by its model, or
as it was identified. What finds the failures is in `diagnosis`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Protocol

import numpy as np
import typer
from packbot.controllers.diagnosis import Detection
from packbot.model.parameters import JOINTS
from roboaccord.bag import BagRun, read_run
from roboaccord.cli import Result
from roboaccord.contract import (
    AccordError,
    Array,
    Kilograms,
    Quantity,
    RobotState,
    Trajectory,
    fault_of,
)
from roboaccord.scenario import Setup
from roboaccord.simulators import JointFaults

from roboaccord_studies.packbot.detection.diagnosis import Diagnosis
from roboaccord_studies.packbot.detection.probing import Doubt, Prober
from roboaccord_studies.packbot.detection.uncertainty import Uncertainty
from roboaccord_studies.packbot.identification.known import KnownArm
from roboaccord_studies.packbot.recorded import efforts_in_force, setup_of


class Detected:
    """Watch the arm, state by state.

    Args:
        setup: robot and scenario, as they are known before anything is identified.
        uncertainty: of that, as `Uncertainty.read` takes it.
        known: the arm as it was identified, if it was.
        payload: at the finger tips, beside what was identified [kg].

    Raises:
        ValueError: for an uncertainty that is none.
    """

    def __init__(
        self,
        setup: Setup,
        uncertainty: object = None,
        known: KnownArm | None = None,
        payload: float = 0.0,
    ) -> None:
        remaining, ticks = Uncertainty.read(uncertainty), 0
        self._known, self._gain, self._zero = setup, np.ones(len(JOINTS)), np.zeros(len(JOINTS))
        if known:
            period = setup.scenario.control_period
            remaining, ticks = known.uncertainty(remaining, period), known.ticks(period) or 0
            self._gain, self._zero = 1.0 + known.of("gain"), known.of("zero")
            self._known, setup = known.setup(setup), known.setup(setup, least=True)
        self._diagnosis = Diagnosis(setup, payload, uncertainty=remaining)
        self._efforts = deque[Array](maxlen=1 + ticks)  # commanded; the first is in force
        self.reset()

    def reset(self) -> None:
        """Forget all, as at the start of a run."""
        self._diagnosis.reset()
        self._efforts.extend(np.zeros((self._efforts.maxlen or 0, len(JOINTS))))

    def update(self, state: RobotState, effort: Array) -> Sequence[Detection]:
        """Take what was measured, and the effort that was commanded up to then."""
        self._efforts.append(self._gain * effort)
        seen = replace(state, q=state.q - self._zero)
        return self._diagnosis.update(seen, self._efforts[0])

    def probe(self, q: Array, joint: int) -> Array | None:
        """Return by how much to turn a joint (7,) [rad]; None where no small motion is safe."""
        return self._prober.turn(q, joint)

    @cached_property
    def _prober(self) -> Prober:
        return Prober(self._known, 0.0)

    def open_explanations(self) -> dict[str, tuple[str, ...]]:
        """Return, by joint, what cannot be distinguished."""
        return self._diagnosis.open_explanations()


class Watcher(Protocol):
    """What watches an arm, state by state, as `Detected` does."""

    def reset(self) -> None:
        """Forget all, as at the start of a run."""

    def update(self, state: RobotState, effort: Array) -> Sequence[Detection]:
        """Take what was measured, and the effort that was commanded up to then."""


def detections(
    detector: Watcher, time: Array, q: Array, qd: Array, effort: Array
) -> list[Detection]:
    """Return what a detector finds in a motion.

    Args:
        detector: new, or reset.
        time: (k,) [s].
        q, qd: as measured (k, 7) [rad, rad/s].
        effort: commanded up to then (k, 7) [N m].
    """
    rows = zip(time.tolist(), q, qd, effort, strict=True)
    return [found for t, x, v, u in rows for found in detector.update(RobotState(t, x, v, u), u)]


@dataclass(frozen=True)
class Findings:
    """The failed joints of a motion, and what cannot be distinguished."""

    faults: Annotated[list[Detection], Quantity("", "failed joints")]
    undetermined: Annotated[list[Doubt], Quantity("", "joints that cannot be distinguished")]


def findings(run: BagRun, payload: float) -> Findings:
    """Find failed joints in the joint states and commanded efforts of a recorded run.

    Args:
        run: as recorded.
        payload: at the finger tips [kg].

    Raises:
        AccordError: if it is of no run of the Packbot, or has no commands.
    """
    setup = setup_of(run)
    keys = setup.scenario.controller
    try:
        file = keys.get("identified", "")
        known = KnownArm.read(file) if file else None
        detector = Detected(setup, keys.get("uncertainty"), known, payload)
    except ValueError as error:
        raise AccordError(str(error)) from None
    motion = run.trajectory
    found = detections(detector, motion.time, *measured(motion), efforts_in_force(run))
    recorded = {f.joint: f.time for f in map(fault_of, motion.events) if f}
    all_ = {each.joint: each for each in found}.values()
    last = [each for each in all_ if each.kind != "healthy"]  # a name that was taken back
    began = {each.joint: recorded.get(each.joint, each.time - each.delay) for each in last}
    faults = [replace(each, delay=each.time - began[each.joint]) for each in last]
    doubts = Prober(setup, payload).doubts(motion.q[-1], detector.open_explanations())
    return Findings(faults, doubts)


def measured(motion: Trajectory) -> tuple[Array, Array]:
    """Return angles and rates (k, n) as the encoders had them, by the faults among the events."""
    faults = [fault for fault in map(fault_of, motion.events) if fault]
    kept = JointFaults(faults, motion.joints, motion.joints)
    states = list[RobotState]()
    for i in range(len(motion)):
        states.append(kept.seen(motion.state(i)).measured)
        for _ in kept.due(motion.state(i)):
            pass
    return np.array([state.q for state in states]), np.array([state.qd for state in states])


def detect_command(
    bag: Annotated[Path, typer.Argument(metavar="BAG", help="Bag of a run of the Packbot.")],
    payload: Annotated[Kilograms, typer.Option(min=0.0, help="Payload at the finger tips.")] = 0.0,
) -> Result:
    """Find frozen and loose joints from joint states and commanded efforts alone.

    Which joints failed, how, when that was detected, and how long after the failure, at its
    recorded time or else its estimated one. What cannot be distinguished at the end is named, with
    the small safe motion that would tell the cases apart.

    Examples:

      accord packbot detect runs/reach/bag --json
    """
    return Result(findings(read_run(bag), payload))

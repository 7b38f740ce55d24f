"""The diagnosis `detected` of the controller `recover`, and `accord packbot detect`, of a bag.

Both use joint states and commanded efforts alone, and the arm by its model, or as identified from
an earlier motion. `Detected` corrects the measurements by what was identified (encoder zeros,
torque constants, latency of the efforts), and passes them to `Diagnosis`, which finds the failures.
`findings` does that for a recorded run, and compares the times with those of the recorded faults.

The methods of `Detected`, which are those of `packbot.controllers.diagnosis.Diagnosis`, and the
fields of `Findings`, keys of the JSON output, must stay.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Protocol

import numpy as np
from packbot.controllers.diagnosis import Detection
from packbot.model.parameters import JOINTS
from roboaccord.bag import BagRun, read_run
from roboaccord.cli import Result
from roboaccord.contract import AccordError, Array, RobotState, Trajectory, fault_of
from roboaccord.contract import results as si
from roboaccord.scenario import Setup
from roboaccord.simulators import JointFaults

from roboaccord_studies.packbot.cli.options import BAG, PAYLOAD
from roboaccord_studies.packbot.detection.diagnosis import Diagnosis
from roboaccord_studies.packbot.detection.probing import Doubt, Prober
from roboaccord_studies.packbot.detection.uncertainty import Uncertainty
from roboaccord_studies.packbot.identification.known import KnownArm
from roboaccord_studies.packbot.recorded import efforts_in_force, setup_of


class Detected:
    """Diagnosis of an arm as it was identified, state by state.

    Args:
        setup: robot and scenario, as they are known before anything is identified.
        uncertainty: of that arm, as `Uncertainty.read` takes it.
        known: the arm as it was identified, if it was.
        payload: at the finger tips, in addition to what was identified [kg].

    Raises:
        ValueError: for an uncertainty that is not valid.
    """

    def __init__(
        self,
        setup: Setup,
        uncertainty: object = None,
        known: KnownArm | None = None,
        payload: float = 0.0,
    ) -> None:
        remaining = Uncertainty.read(uncertainty)
        latency = 0  # ticks (control periods)
        self._identified_setup = setup
        self._gain = np.ones(len(JOINTS))  # of the torque constants, over the model's
        self._zero = np.zeros(len(JOINTS))  # of the encoders [rad]
        if known:
            period = setup.scenario.control_period
            remaining = known.uncertainty(remaining, period)
            latency = known.ticks(period) or 0
            self._gain = 1.0 + known.of("gain")
            self._zero = known.of("zero")
            self._identified_setup = known.setup(setup)
            setup = known.setup(setup, least=True)
        self._diagnosis = Diagnosis(setup, payload, uncertainty=remaining)
        self._efforts = deque[Array](maxlen=1 + latency)  # commanded; the first is in force
        self.reset()

    def reset(self) -> None:
        """Forget all, as at the start of a run."""
        self._diagnosis.reset()
        self._efforts.extend(np.zeros((self._efforts.maxlen or 0, len(JOINTS))))

    def update(self, state: RobotState, effort: Array) -> Sequence[Detection]:
        """Return new reports, by a measured state and the effort (7,) [N m] commanded up to it."""
        self._efforts.append(self._gain * effort)
        return self._diagnosis.update(replace(state, q=state.q - self._zero), self._efforts[0])

    def probe(self, q: Array, joint: int) -> Array | None:
        """Return by how much to turn a joint (7,) [rad]; None where no small motion is safe."""
        return self._prober.turn(q, joint)

    @cached_property
    def _prober(self) -> Prober:
        """Finder of motions that decide about joints, made when it is first needed."""
        return Prober(self._identified_setup, 0.0)

    def open_explanations(self) -> dict[str, tuple[str, ...]]:
        """Return, by joint, what cannot be distinguished."""
        return self._diagnosis.open_explanations()


class Watcher(Protocol):
    """Protocol of whatever watches an arm, state by state, as `Detected` does."""

    def reset(self) -> None:
        """Forget all, as at the start of a run."""

    def update(self, state: RobotState, effort: Array) -> Sequence[Detection]:
        """Return new reports, by a measured state and the effort (7,) [N m] commanded up to it."""


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
    states = map(RobotState, time.tolist(), q, qd, effort)
    return [finding for state in states for finding in detector.update(state, state.effort)]


@dataclass(frozen=True)
class Findings:
    """The failed joints of a motion, and what cannot be distinguished."""

    faults: Annotated[list[Detection], si.Quantity("", "failed joints")]
    undetermined: Annotated[list[Doubt], si.Quantity("", "joints that cannot be distinguished")]


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
    q, qd = measured(motion)
    reports = detections(detector, motion.time, q, qd, efforts_in_force(run))
    last_reports = {report.joint: report for report in reports}
    begin_times = {fault.joint: fault.time for fault in map(fault_of, motion.events) if fault}
    faults = list[Detection]()
    for joint, report in last_reports.items():
        if report.kind != "healthy":  # otherwise an earlier report was taken back
            began = begin_times.get(joint, report.time - report.delay)
            faults.append(replace(report, delay=report.time - began))
    doubts = Prober(setup, payload).doubts(motion.q[-1], detector.open_explanations())
    return Findings(faults, doubts)


def measured(motion: Trajectory) -> tuple[Array, Array]:
    """Return angles and rates (k, n) as the encoders read them, with the faults of the events."""
    faults = [fault for fault in map(fault_of, motion.events) if fault]
    injected = JointFaults(faults, motion.joints, motion.joints)
    states = list[RobotState]()
    for i in range(len(motion)):
        states.append(injected.with_readings(motion.state(i)).measured)
        list(injected.begin_due(motion.state(i)))  # a generator, which puts them in force
    return np.array([state.q for state in states]), np.array([state.qd for state in states])


def detect_command(
    bag: Annotated[Path, BAG], payload: Annotated[si.Kilograms, PAYLOAD] = 0.0
) -> Result:
    """Find frozen and loose joints from joint states and commanded efforts alone.

    Which joints failed, how, when that was detected, and how long after the failure, at its
    recorded time or else its estimated one. What cannot be distinguished at the end is named, with
    the small safe motion that would tell the cases apart.

    Examples:

      accord packbot detect runs/reach/bag --json
    """
    return Result(findings(read_run(bag), payload))

"""A trial: the arm with failed joints reaches for a target in an engine, and is judged.

`run_reach` runs the controller `recover`, or that of the healthy arm, until it is done, and returns
a `Reach`. `accord packbot reach-target`, tests and studies call it. A failed joint is frozen
(locked) or loose (without drive). A reach succeeds if the finger tips end within 10 mm of the
target, nothing touches except what loose joints rest on, and no effort is at its limit. If the
simulated arm differs from its model (`OffModel`), unknown encoder zeros and lengths displace the
true tips from the measured ones; this displacement at the end is allowed in addition.

REACHED and TARGET_WIDTH define success in pages and studies and must stay; the other constants may
be tuned. test_packbot_recovery reaches in every engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from roboaccord.contract import AccordError, Array, Controller, Observer, RobotState, Trajectory
from roboaccord.contract import results as si
from roboaccord.run import Hold, KeptMotion, loop, make_simulator, reset_controller
from roboaccord.scenario import Setup
from roboaccord.simulators import Simulator

from packbot.contact.clearance import Clearance
from packbot.controllers.reach import ReachController
from packbot.controllers.recovery import RecoveryController
from packbot.model.arm import Kinematics
from packbot.planning.failed_arm import FailedArm
from packbot.planning.reaching import HAND_JOINTS, MARGIN
from packbot.planning.recovery import Recoverer, Recovery
from packbot.planning.sight import Sight

# m; the finger tips have reached the target within this distance: that by which errors of lengths
# and encoders displace the hand (median of drawn arms, docs/packbot_recovery.md)
REACHED = 0.01
# m; width of the target for the camera: what fits between the fingers, 60 mm apart
TARGET_WIDTH = 0.05
# s; longest duration of a reach: MAX_SWINGING_TIME, a path of up to 30 s, and END_TIMEOUT
MAX_DURATION = 90.0
# s; the healthy arm's controller has this time at the end of its path: 20 time constants of its
# default bandwidth
SETTLING_TIME = 2.0
# Number of random poses among which a start without contact is sought: half of all are clear
# (measured), so that a few would do; the nearest of many is near.
START_POSES = 3000
PLANNING_TIMEOUT = 600.0  # s of wall time; longest duration of planning, which takes seconds
DETECTED = "detected"  # default diagnosis
# Control periods between poses that are checked for contact, to save time: in 50 ms the tips move
# by up to 37 mm, and a contact that is not just grazed lasts longer.
CONTACT_CHECK_PERIODS = 5


@dataclass(frozen=True)
class Noticed:
    """A failure that was found, and its delay, as estimated if no fault was injected."""

    joint: Annotated[str, si.Quantity("")]
    kind: Annotated[str, si.Quantity("", form="s")]
    delay: Annotated[float, si.Quantity("s", "after it failed", form=".2f")]


@dataclass(frozen=True, kw_only=True)
class Reach:
    """Result of a reach.

    Args:
        reached: whether the finger tips ended within 10 mm of the target, plus the displacement by
            errors of the model; nothing touched but what loose joints rest on, and no effort was
            at its limit.
        error: of the finger tips in the end [m].
        measured: the same by the model at the encoders' angles, without noise [m].
        reason: why the target was refused, or what went wrong; None if it was reached.
        nearest: point nearest to the target that has a path (3,) [m], or None.
        detected: failed joints that the diagnosis found; a single one is not in a list.
        path: corners of the last path planned (k, 7) [rad].
        seen: visible fraction of a target 50 mm wide at the end; None if the camera has no task.
        touched: pairs of links that touched.
        load: greatest effort over its joint's limit.
        duration: duration of the run [s].
        start: angles at the start (7,) [rad].
        trajectory: motion of the run.
        planner: planner of the failed arm, which may be used again.
    """

    reached: Annotated[bool, si.Quantity("")] = False
    error: Annotated[float, si.Quantity("m", "from the target", name="finger tips", shown="mm")]
    measured: float = field(default=0.0, metadata=si.LEFT_OUT)
    reason: Annotated[str | None, si.Quantity("")]
    nearest: Annotated[Array | None, si.Quantity("m", "nearest point with a path")] = None
    detected: Noticed | list[Noticed] | None = None
    path: Array
    seen: Annotated[float | None, si.Quantity("1", "of the target by the camera", shown="%")] = None
    touched: Annotated[Sequence[tuple[str, str]], si.Quantity("")] = ()
    load: Annotated[float, si.Quantity("1", "greatest effort over its limit", form=".2f")] = 0.0
    duration: si.Seconds
    start: Array
    trajectory: Trajectory = field(metadata=si.LEFT_OUT)
    planner: Recoverer | None = field(default=None, metadata=si.LEFT_OUT)


class OffModel(Simulator):
    """Simulator of an arm that is not its model.

    Attributes:
        truth: setup of the simulated arm.
        zeros: zeros of its encoders (7,) [rad].
    """

    truth: Setup
    zeros: Array


class StopWhenDone(Hold):
    """Input without a target, which ends the run when a controller is done.

    Args:
        controller: controller, with an attribute `done` or without.
        last: time at which the run ends in any case [s].
    """

    def __init__(self, controller: Controller, last: float) -> None:
        super().__init__()
        self._controller, self._last = controller, last

    def switches(self, state: RobotState) -> dict[str, bool]:
        """Return no switches, and end the run if the controller is done."""
        self.over = bool(getattr(self._controller, "done", False)) or state.time >= self._last
        return {}


def clear_start(setup: Setup) -> Setup:
    """Return a setup whose start is the nearest pose without contact, frozen joints unchanged.

    Raises:
        AccordError: if none is found.
    """
    clearance, q = Clearance.of(setup), setup.initial.q
    if not clearance.touches(q, MARGIN):
        return setup
    p = setup.parameters
    frozen = [fault.joint for fault in setup.faults if fault.angle is not None]
    movable = [i for i in range(HAND_JOINTS) if setup.joints[i] not in frozen]
    poses = np.tile(q, (START_POSES, 1))
    lower, upper = p.limits[:, movable]
    poses[:, movable] = np.random.default_rng(0).uniform(lower, upper, (START_POSES, len(movable)))
    times = (np.abs(poses - q) / p.of_joints("speed_limit")).max(axis=1)
    for i in times.argsort(kind="stable"):
        if not clearance.touches(poses[i], MARGIN):
            angles = dict(zip(setup.joints, poses[i].tolist(), strict=True))
            scenario = setup.scenario
            initial = scenario.initial.model_copy(update={"q": angles})
            return Setup(setup.robot, scenario.model_copy(update={"initial": initial}))
    raise AccordError("no start is clear with joints frozen so")


def drive(
    setup: Setup,
    engine: str | Simulator,
    controller: Controller,
    last: float = MAX_DURATION,
    observers: Sequence[Observer] = (),
) -> Trajectory:
    """Run a controller in an engine until it is done, or for `last` [s]."""
    simulator = make_simulator(setup, engine) if isinstance(engine, str) else engine
    motion = KeptMotion(simulator.joints)
    reset_controller(controller, setup.scenario.seed, PLANNING_TIMEOUT)
    loop.drive(
        simulator=simulator,
        controller=controller,
        initial=setup.initial,
        duration=MAX_DURATION + 1.0,
        control_period=setup.scenario.control_period,
        inputs=StopWhenDone(controller, last),
        observers=(motion, *observers),
        timeout=PLANNING_TIMEOUT,
    )
    return motion.trajectory


def run_reach(
    setup: Setup,
    target: Array,
    engine: str | OffModel = "reference",
    *,
    ignore: bool = False,
    last: float = 0.0,
    planner: Recoverer | None = None,
    observers: Sequence[Observer] = (),
) -> Reach:
    """Reach for a target in an engine, and return the result.

    Args:
        setup: robot, scenario and faults.
        target: of the finger tips (3,) [m].
        engine: name; or an arm that is not its model, with the same faults, in which case the
            controllers take their model as uncertain.
        ignore: use the healthy arm's controller, which ignores failures.
        last: time up to which that controller holds the arm at least [s].
        planner: for the failed arm at rest, if one was made already.
        observers: of the run.
    """
    off_model = None if isinstance(engine, str) else engine
    uncertainty: dict[str, float] | None = {} if off_model else None
    point = target.tolist()
    if not ignore:
        diagnosis = setup.scenario.controller.get("diagnosis", DETECTED)
        recovering = RecoveryController(setup, point, uncertainty=uncertainty, diagnosis=diagnosis)
        recovering.planner = planner
        run = drive(setup, engine, recovering, observers=observers)
        return _assess(setup, target, off_model, run, recovering)
    healthy = ReachController(setup, point, uncertainty=uncertainty)
    try:
        healthy.reset(setup.scenario.seed)
    except AccordError as error:
        run = Trajectory.from_states(setup.joints, [setup.initial], [], [])
        return _assess(setup, target, off_model, run, healthy, refused=str(error))
    end = healthy.motion.duration + SETTLING_TIME
    run = drive(setup, engine, healthy, max(end, last), observers)
    return _assess(setup, target, off_model, run, healthy)


def tips(setup: Setup, q: Array, arm: OffModel | None = None) -> tuple[Array, Array]:
    """Return the finger tips (3,) [m] at true angles q (7,) [rad], and as they are measured."""
    if arm is None:
        tip = Kinematics(setup).tip(q)
        return tip, tip
    return Kinematics(arm.truth).tip(q), Kinematics(setup).tip(q + arm.zeros)


def _assess(
    setup: Setup,
    target: Array,
    off_model: OffModel | None,
    run: Trajectory,
    controller: ReachController | RecoveryController,
    refused: str = "",
) -> Reach:
    """Return the result of a run, with the first criterion that it does not meet as reason.

    Args:
        setup: robot, scenario and faults.
        target: of the finger tips (3,) [m].
        off_model: the arm that moved, if it is not its model.
        run: motion of the arm.
        controller: controller of the run.
        refused: why no path was planned, "" if one was.
    """
    last_pose = run.q[-1]
    recovering = controller if isinstance(controller, RecoveryController) else None
    recovery = recovering.recovery if recovering else None
    # With a recovery, only what happens on its path counts.
    start = 0.0  # s
    props = set[tuple[str, str]]()
    if recovering and recovery:
        start = recovering.started or 0.0
        props = _propping_links(recovering.arm, recovery)
    first = int(np.searchsorted(run.time, start))
    clearance = Clearance.of(off_model.truth if off_model else setup)
    touched = tuple(sorted(_touching_links(clearance, run.q[first:]) - props))
    load = float((np.abs(run.effort[first + 1 :]) / setup.effort_limits).max(initial=0.0))
    tip, measured_tip = tips(setup, last_pose, off_model)
    differences = [tip - target, measured_tip - target, tip - measured_tip]
    error, measured, displacement = np.linalg.norm(differences, axis=1).tolist()
    reason: str | None = refused or (recovering.reason if recovering else "") or None
    if reason is None:  # the first criterion that is not met
        inaccurate = error >= REACHED + displacement
        criteria = {"contact": bool(touched), "torque": load >= 1.0, "inaccurate": inaccurate}
        reason = next((word for word, is_unmet in criteria.items() if is_unmet), None)
    motion = None if refused else controller.motion
    detected = _detected_failures(setup, recovering) if recovering else []
    visible_fraction = None
    spec = setup.scenario.controller
    if spec.get("watch") or spec.get("look"):  # the camera has a task
        visible_fraction = Sight.of(setup).fraction(last_pose, target, TARGET_WIDTH)
    return Reach(
        reached=reason is None,
        error=error,
        measured=measured,
        reason=reason,
        nearest=recovery.nearest if recovery else None,
        detected=detected[0] if len(detected) == 1 else detected or None,
        path=run.q[-1:] if motion is None else motion.corners,
        seen=visible_fraction,
        touched=touched,
        load=load,
        duration=float(run.time[-1]),
        start=setup.initial.q,
        trajectory=run,
        planner=recovering.planner if recovering else None,
    )


def _touching_links(clearance: Clearance, q: Array) -> set[tuple[str, str]]:
    """Return the pairs of links that touch in poses q (k, 7)."""
    links = set[tuple[str, str]]()
    for pose in q[::CONTACT_CHECK_PERIODS]:
        if clearance.touches(pose):
            overlapping = np.flatnonzero(clearance.distances(pose) < 0.0)
            links.update(map(clearance.pair_links, overlapping.tolist()))
    return links


def _detected_failures(setup: Setup, controller: RecoveryController) -> list[Noticed]:
    """Return the failures that the diagnosis found, with delays since the faults were injected."""
    injected = {fault.joint: fault.time for fault in setup.faults}
    failures = []
    for report in controller.detected.values():
        began = injected.get(report.joint, report.time - report.delay)
        failures.append(Noticed(report.joint, report.kind, report.time - began))
    return failures


def _propping_links(arm: FailedArm, recovery: Recovery) -> set[tuple[str, str]]:
    """Return the pairs of links on which loose joints rest on a path."""
    pairs = arm.clearance.pair_links
    return {pairs(i) for corner in recovery.corners for i in arm.propping_pairs(corner).tolist()}

"""Energy balance of a run: work, kinetic and potential energy, losses, and the residual.

SAMPLES may be tuned: it only sets how many points are plotted. To add a loss, add it to `CHANNELS`
(simulators/losses.py), a field of its name to `EnergyBook`, and a colour to report/energy.py. The
balance itself is fixed: it defines the rest, and test_energy compares each item with closed forms
of bars, boxes and swings.

    work = change of kinetic + potential + friction + damping + stops + impacts + rest

Work, kinetic and potential energy follow from the recorded motion and the description alone. What
stops, impacts and friction took is measured by the simulator itself, which repeats the run. So the
rest is not fitted: it is what time stepping adds or takes, or what was not measured.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from roboaccord.contract.checks import ROUND_OFF
from roboaccord.contract.contact import EllipseFriction
from roboaccord.contract.interfaces import Engine, ForceLaw, Observer
from roboaccord.contract.results import Quantity
from roboaccord.contract.state import Array, RobotState
from roboaccord.contract.trajectory import Trajectory
from roboaccord.description.kinematics import TreeKinematics, motion_of
from roboaccord.description.tree import Tree
from roboaccord.engines import name_of
from roboaccord.numerics.rotations import quaternion_matrix, rotation_vector
from roboaccord.run.loop import make_simulator
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Simulator
from roboaccord.simulators.losses import CHANNELS, FRICTION, IMPACTS, LawPower

SAMPLES = 1000  # points of a plot: more than a screen resolves in a curve
UNMEASURED = "not measured"
UNREPEATED = "the run could not be repeated exactly: the rest includes what was not measured"

Taken = dict[str, Array]
"""By channel, the energy taken since the start (k,) [J]."""


class LossMeter(Observer):
    """Reads the losses of a simulator at each control tick.

    Args:
        simulator: that measures them.
    """

    def __init__(self, simulator: Simulator) -> None:
        self._simulator, self._rows = simulator, list[Mapping[str, float]]()

    def on_state(self, state: RobotState) -> None:
        """Read what was lost since the last tick."""
        self._rows.append(self._simulator.take_losses())

    @property
    def taken(self) -> Taken:
        """Losses since the start."""
        names = self._rows[0] if self._rows else ()
        return {name: np.cumsum([row[name] for row in self._rows]) for name in names}


@dataclass(frozen=True)
class EnergyBook:
    """Energy balance of a run at k samples; all but `kinetic` is counted since the start (k,).

    Args:
        how: by channel of losses, how it was obtained.
        reason: why not all losses were measured; None where they were.
    """

    time: Annotated[Array, Quantity("s", "time")]
    kinetic: Annotated[Array, Quantity("J", "kinetic")]
    net_work: Annotated[Array, Quantity("J", "work")]
    potential: Annotated[Array, Quantity("J", "potential")]
    friction: Annotated[Array, Quantity("J", "friction")]
    damping: Annotated[Array, Quantity("J", "damping")]
    stops: Annotated[Array, Quantity("J", "stops")]
    impacts: Annotated[Array, Quantity("J", "impacts")]
    rest: Annotated[Array, Quantity("J", "rest")]
    how: Mapping[str, str]
    reason: str | None


@dataclass(frozen=True)
class NoBook:
    """Why a run has no energy balance."""

    reason: str = "kinematic: no energy book"


def law_of(law: ForceLaw | None) -> ForceLaw | None:
    """Return a force law; None where its forces are not a function of the motion."""
    return None if isinstance(law, EllipseFriction) and not law.slip_speed else law


def energy_of(
    setup: Setup, engine: Engine, run: Trajectory, taken: Taken | None = None
) -> EnergyBook | NoBook:
    """Return the energy balance of a run.

    Args:
        setup: robot and scenario.
        engine: that made the run; the book is the description's.
        run: its motion.
        taken: what it lost, if known; else the run is repeated.
    """
    tree = setup.tree
    simulator = make_simulator(setup, engine)
    if simulator.acceleration(setup.initial, np.zeros(len(setup.joints))) is None:
        return NoBook()
    measured = taken or repeat(setup, simulator, run)
    taken = {**measured} if measured else {}
    how = dict.fromkeys(taken, f"measured by {name_of(engine)}")
    law = law_of(setup.force_law)
    if FRICTION not in taken and law:
        taken[FRICTION] = integrate_law(LawPower(tree, run.joints, law), run)
        how[FRICTION] = "force law integrated over the control ticks"
    for event in run.events if measured else ():
        taken[IMPACTS] = taken[IMPACTS] + event.energy * (run.time > event.time + ROUND_OFF)
    at = np.unique(np.append(np.arange(0, len(run), max(1, len(run) // SAMPLES)), len(run) - 1))
    beside = setup.parameters.gravity, simulator.armature, simulator.spring
    energies = Stored(tree, run.joints, *beside)
    kinetic, height = np.array([energies.of(run.state(i)) for i in at.tolist()]).T
    work, potential = net_work(run)[at], height - height[0]
    lost = {channel: taken.get(channel, np.zeros(len(run)))[at] for channel in CHANNELS}
    stored = kinetic - kinetic[0] + potential
    return EnergyBook(
        time=run.time[at], kinetic=kinetic, net_work=work, potential=potential, **lost,
        rest=work - stored - sum(lost.values()),
        how={channel: how.get(channel, UNMEASURED) for channel in CHANNELS},
        reason=UNREPEATED if measured is None else None,
    )  # fmt: skip


def repeat(setup: Setup, simulator: Simulator, run: Trajectory) -> Taken | None:
    """Repeat a run with a simulator that measures losses, and return these.

    Returns:
        losses by channel, empty where the simulator measures none; None where the repeated motion
        differs in any bit.
    """
    if not simulator.channels:
        return {}
    simulator.meter()
    meter, state = LossMeter(simulator), simulator.reset(setup.initial)
    for i in range(len(run)):
        if i:
            state = simulator.step(run.command(i - 1), run.period(i - 1))
        if not _same(state, run, i):
            return None
        meter.on_state(state)
    return meter.taken


def integrate_law(law: LawPower, run: Trajectory) -> Array:
    """Return the energy dissipated by a force law since the start (k,) [J] (trapezoidal rule)."""
    power = np.array([law.of(run.state(i)) for i in range(len(run))])
    steps = 0.5 * np.diff(run.time) * (power[1:] + power[:-1])
    return np.concatenate([[0.0], np.cumsum(steps)])


def net_work(run: Trajectory) -> Array:
    """Return the work of efforts and wrench since the start (k,) [J].

    Both are held over a control period, so the work is theirs times what was moved.
    """
    steps = (run.effort[1:] * np.diff(run.q, axis=0)).sum(axis=1)
    if run.wrench is not None:
        steps = steps + (run.wrench[1:, :3] * np.diff(run.position, axis=0)).sum(axis=1)
        steps = steps + (run.wrench[1:, 3:] * _turns(run.orientation)).sum(axis=1)
    return np.concatenate([[0.0], np.cumsum(steps)])


class Stored:
    """Kinetic and potential energy of a robot in a state.

    Args:
        tree: links and joints.
        joints: names of the columns of q.
        gravity: [m/s^2].
        armature: inertia of rotors (n,) [kg m^2].
        spring: stiffness [N m/rad] and slack positions of the joints (n,), or None.
    """

    def __init__(
        self,
        tree: Tree,
        joints: tuple[str, ...],
        gravity: float,
        armature: Array | None = None,
        spring: tuple[Array, Array] | None = None,
    ) -> None:
        self._tree, self._gravity, self._armature = tree, gravity, armature
        self._spring = spring or (0.0, 0.0)
        self._kinematics = TreeKinematics(tree, joints)
        self._masses = np.array([link.mass for link in tree.links])
        self._inertias = np.array([link.inertia for link in tree.links])

    def of(self, state: RobotState) -> tuple[float, float]:
        """Return kinetic and potential energy [J].

        The latter is 0 where all masses are at z = 0 and all springs slack.
        """
        motion = motion_of(self._tree, self._kinematics, state)
        spin = (motion.angular[:, None] @ motion.rotation)[:, 0]
        turning = float(np.einsum("ki,kij,kj", spin, self._inertias, spin))
        moving = float(self._masses @ (motion.linear**2).sum(axis=1))
        rotors = 0.0 if self._armature is None else float(self._armature @ state.qd**2)
        height = float(self._masses @ motion.position[:, 2])
        stiffness, slack = self._spring
        strained = 0.5 * float(np.sum(stiffness * (state.q - slack) ** 2))
        return 0.5 * (moving + turning + rotors), self._gravity * height + strained


def _turns(orientation: Array) -> Array:
    """Return the rotation vectors between successive orientations (k, 4) (k - 1, 3) [rad]."""
    turned = quaternion_matrix(orientation)
    steps = turned[1:] @ np.swapaxes(turned[:-1], 1, 2)
    return np.array([rotation_vector(step) for step in steps]).reshape(-1, 3)


def _same(state: RobotState, run: Trajectory, index: int) -> bool:
    pairs = (
        (state.q, run.q), (state.qd, run.qd), (state.position, run.position),
        (state.orientation, run.orientation), (state.twist, run.twist),
    )  # fmt: skip
    return all(np.array_equal(here, there[index]) for here, there in pairs)

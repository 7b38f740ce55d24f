"""Energy balance of a run ("energy book"): work, stored energy, losses, and the residual ("rest").

    work = change of kinetic + potential + friction + damping + stops + impacts + rest

Work of the efforts, kinetic and potential energy follow from the recorded motion and the robot's
description alone. The losses, by channel (friction, damping, mechanical stops of joints, and
impacts), are measured by the simulator itself, which repeats the run. So the rest is not fitted: it
is the energy that the time stepping adds or removes, and any loss that was not measured. The
cross-check judges it (crosscheck/levels/energy.py).

`energy_of` makes the book, `Stored` computes kinetic and potential energy, `LossMeter` reads the
measured losses. The balance is fixed, for it defines the rest; test_energy compares each item with
closed forms. A new loss is added to CHANNELS (simulators/losses.py), as a field of its name to
`EnergyBook`, and with a colour to report/energy.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from roboaccord.contract import Array, EllipseFriction, FreeBody, Quantity, RobotState, Trajectory
from roboaccord.contract.checks import ROUND_OFF
from roboaccord.contract.interfaces import Engine, ForceLaw, Observer
from roboaccord.description.kinematics import TreeKinematics, motion_of, with_bodies
from roboaccord.description.tree import Link, Tree
from roboaccord.engines import name_of
from roboaccord.numerics.rotations import quaternion_matrix, rotation_vector
from roboaccord.run.loop import make_simulator
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Simulator
from roboaccord.simulators.losses import CHANNELS, FRICTION, IMPACTS, LawPower

# Smallest number of points of the curves of a long run: a screen resolves no more.
CURVE_POINTS = 1000
UNMEASURED = "not measured"
UNREPEATED = "the run could not be repeated exactly: the rest includes what was not measured"

# Energy lost since the start (k,) [J], by channel of losses, such as friction.
Losses = dict[str, Array]


class LossMeter(Observer):
    """Reads the losses that a simulator measures, at each control tick.

    Args:
        simulator: whose losses are read.
    """

    def __init__(self, simulator: Simulator) -> None:
        self._simulator = simulator
        self._losses_by_tick = list[Mapping[str, float]]()  # [J] since the tick before, by channel

    def on_state(self, state: RobotState) -> None:
        """Read what was lost since the last tick."""
        self._losses_by_tick.append(self._simulator.take_losses())

    @property
    def taken(self) -> Losses:
        """Losses since the start (k,) [J], by channel."""
        ticks = self._losses_by_tick
        channels = ticks[0] if ticks else ()
        return {channel: np.cumsum([losses[channel] for losses in ticks]) for channel in channels}


@dataclass(frozen=True)
class EnergyBook:
    """Energy balance of a run at k samples.

    `kinetic` is the kinetic energy itself; all other items (k,) are counted since the start.

    Args:
        time: of the samples [s].
        kinetic, net_work, potential, friction, damping, stops, impacts, rest: items [J].
        how: how the loss was obtained, by channel.
        reason: why not all losses were measured; None where all were.
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
    """Placeholder for the energy book of a run that has none, with the reason.

    A kinematic simulator moves the robot without forces, so that there is no balance.
    """

    reason: str = "kinematic: no energy book"


def law_of(law: ForceLaw | None) -> ForceLaw | None:
    """Return the force law, or None where its force is not a function of the motion.

    That is so for friction that sticks, without a slip speed.
    """
    return None if isinstance(law, EllipseFriction) and not law.slip_speed else law


def energy_of(
    setup: Setup, engine: Engine, run: Trajectory, taken: Losses | None = None
) -> EnergyBook | NoBook:
    """Return the energy balance of a run.

    Args:
        setup: robot and scenario.
        engine: that made the run.
        run: motion of the run.
        taken: losses by channel that a simulator measured (k,) [J]; without them the run is
            repeated to measure them.
    """
    simulator = make_simulator(setup, engine)
    if simulator.acceleration(setup.initial, np.zeros(len(setup.joints))) is None:
        return NoBook()
    measured = taken or repeat(setup, simulator, run)
    all_losses, sources = _losses_of(setup, run, measured or {}, name_of(engine))
    # Samples of the curves, the last one included.
    stride = max(1, len(run) // CURVE_POINTS)
    samples = np.unique(np.append(np.arange(0, len(run), stride), len(run) - 1))
    # Stored energy, work, losses, and what remains of the balance.
    parameters = setup.parameters.gravity, simulator.armature, simulator.spring, setup.bodies
    stored = Stored(setup.tree, run.joints, *parameters)
    energies = np.array([stored.of(run.state(i)) for i in samples.tolist()])
    kinetic, potential = energies[:, 0], energies[:, 1] - energies[0, 1]
    stored_change = kinetic - kinetic[0] + potential
    work = net_work(run)[samples]
    losses = {channel: all_losses.get(channel, np.zeros(len(run)))[samples] for channel in CHANNELS}
    return EnergyBook(
        time=run.time[samples],
        kinetic=kinetic,
        net_work=work,
        potential=potential,
        **losses,
        rest=work - stored_change - sum(losses.values()),
        how={channel: sources.get(channel, UNMEASURED) for channel in CHANNELS},
        reason=UNREPEATED if measured is None else None,
    )


def _losses_of(
    setup: Setup, run: Trajectory, measured: Losses, engine: str
) -> tuple[Losses, dict[str, str]]:
    """Return the losses (k,) [J] and how each was obtained, both by channel.

    Friction that the simulator does not measure is integrated from the force law. The energy of
    impacts is in the events, and is added from the sample after an event on.
    """
    losses = {**measured}
    sources = dict.fromkeys(measured, f"measured by {engine}")
    law = law_of(setup.force_law)
    if FRICTION not in losses and law:
        losses[FRICTION] = integrate_law(LawPower(setup.tree, run.joints, law), run)
        sources[FRICTION] = "force law integrated over the control ticks"
    for event in run.events if measured else ():
        losses[IMPACTS] = losses[IMPACTS] + event.energy * (run.time > event.time + ROUND_OFF)
    return losses, sources


def repeat(setup: Setup, simulator: Simulator, run: Trajectory) -> Losses | None:
    """Repeat a run with a simulator that measures losses, and return these.

    Returns:
        losses by channel, empty where the simulator measures none; None where the repeated motion
        is not equal to the recorded one, bit by bit.
    """
    if not simulator.channels:
        return {}
    simulator.meter()
    meter = LossMeter(simulator)
    state = simulator.reset(setup.initial)
    for i in range(len(run)):
        if i:
            state = simulator.step(run.command(i - 1), run.period(i - 1))
        if not _is_sample(state, run, i):
            return None
        meter.on_state(state)
    return meter.taken


def integrate_law(law: LawPower, run: Trajectory) -> Array:
    """Return the energy that a force law dissipated since the start (k,) [J], by trapezoids."""
    power = np.array([law.of(run.state(i)) for i in range(len(run))])
    steps = 0.5 * np.diff(run.time) * (power[1:] + power[:-1])
    return np.concatenate([[0.0], np.cumsum(steps)])


def net_work(run: Trajectory) -> Array:
    """Return the work of efforts and wrench since the start (k,) [J].

    Both are constant over a control period, so that their work in it is exactly effort times change
    of angle, force times displacement, and moment times rotation vector.
    """
    # Work in each control period (k - 1,) [J].
    steps = (run.effort[1:] * np.diff(run.q, axis=0)).sum(axis=1)
    if run.wrench is not None:
        steps = steps + (run.wrench[1:, :3] * np.diff(run.position, axis=0)).sum(axis=1)
        steps = steps + (run.wrench[1:, 3:] * _rotation_vectors(run.orientation)).sum(axis=1)
    return np.concatenate([[0.0], np.cumsum(steps)])


class Stored:
    """Computes the kinetic and potential energy of a robot, and free bodies, in a state.

    Args:
        tree: links and joints.
        joints: names of the columns of q.
        gravity: [m/s^2].
        armature: inertia of the rotors about the joints (n,) [kg m^2].
        spring: stiffness [N m/rad] and slack positions of the joints (n,), or None.
        bodies: free bodies beside the robot.
    """

    def __init__(
        self,
        tree: Tree,
        joints: tuple[str, ...],
        gravity: float,
        armature: Array | None = None,
        spring: tuple[Array, Array] | None = None,
        bodies: Sequence[FreeBody] = (),
    ) -> None:
        self._tree, self._gravity, self._armature = tree, gravity, armature
        self._spring = spring or (0.0, 0.0)
        self._kinematics = TreeKinematics(tree, joints)
        parts: list[Link | FreeBody] = [*tree.links, *bodies]
        self._masses = np.array([part.mass for part in parts])
        self._inertias = np.array([part.inertia for part in parts])

    def of(self, state: RobotState) -> tuple[float, float]:
        """Return kinetic and potential energy [J].

        E_kin = sum (m v^2 + w' I w) / 2 + sum armature qd^2 / 2 and E_pot = g sum m z + sum
        stiffness (q - slack)^2 / 2, which is 0 with all masses at z = 0 and all springs slack.
        """
        motion = with_bodies(motion_of(self._tree, self._kinematics, state), state.bodies)
        # Angular velocities in the frames of the links, where inertias are constant.
        spin = (motion.angular[:, None] @ motion.rotation)[:, 0]
        rotational = float(np.einsum("ki,kij,kj", spin, self._inertias, spin))
        translational = float(self._masses @ (motion.linear**2).sum(axis=1))
        rotors = 0.0 if self._armature is None else float(self._armature @ state.qd**2)
        mass_moment = float(self._masses @ motion.position[:, 2])  # sum m z [kg m]
        stiffness, slack = self._spring
        spring_energy = 0.5 * float(np.sum(stiffness * (state.q - slack) ** 2))
        kinetic = 0.5 * (translational + rotational + rotors)
        return kinetic, self._gravity * mass_moment + spring_energy


def _rotation_vectors(orientation: Array) -> Array:
    """Return the rotation vectors (k - 1, 3) [rad] between successive orientations (k, 4)."""
    rotations = quaternion_matrix(orientation)
    steps = rotations[1:] @ np.swapaxes(rotations[:-1], 1, 2)
    return np.array([rotation_vector(step) for step in steps]).reshape(-1, 3)


def _is_sample(state: RobotState, run: Trajectory, index: int) -> bool:
    """Return whether a state equals the recorded sample at `index` exactly."""
    bodies = () if run.bodies is None else ("bodies",)
    names = ("q", "qd", "position", "orientation", "twist", *bodies)
    return all(np.array_equal(getattr(state, name), getattr(run, name)[index]) for name in names)

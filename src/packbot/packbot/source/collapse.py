"""Experiment of the source report (section 4): the arm falls without torque until it is at rest.

`run_collapse` simulates the fall and evaluates it: resting angles, time until rest, rises of
energy, depth of overlaps. For the spread of the results, further arms are simulated whose
parameters are drawn at random within the uncertainties in config/parameters.yaml (appendix A of the
report).

Fields of Collapse and DrawnFigures are keys of `accord packbot fall --json` and must stay.
test_packbot_collapse compares resting angles with plane geometry.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from roboaccord import description
from roboaccord.contract import AccordError, Array, Event, Observer, Quantity, Trajectory
from roboaccord.contract import results as si
from roboaccord.run import make_simulator, run_setup
from roboaccord.scenario import Setup, load_scenario
from roboaccord.simulators import Simulator

from packbot.contact.clearance import Clearance
from packbot.model.arm import Arm
from packbot.simulators.reference import ArmSimulator

CONTACTS = ("normal", "joint_clamp", "none")  # laws of contact that are compared
LINKS = ("link1", "link2", "link3")  # the three long links
PITCHES = ("shoulder", "elbow1", "elbow2")  # joints in one plane, whose angles add up
AT_REST = 0.01  # rad/s; slower joints are at rest: at 19 mm/s of the tips no motion can be seen


@dataclass(frozen=True)
class CollapseSample:
    """One collapse with drawn parameters: its result, or why it did not start.

    Args:
        angles: of the three links at the end [degrees]; () if it did not start.
        settle_time: as in `Collapse` [s].
        refused: why it did not start, or "".
    """

    angles: tuple[float, ...]
    settle_time: float | None
    refused: str = ""


@dataclass(frozen=True)
class DrawnFigures:
    """Figures of drawn arms.

    Args:
        count: number of arms.
        seed: seed with which they were drawn.
        absolute_deg: mean, standard deviation and extremes of each link's angle [degrees].
        at_rest: number of arms that were at rest in the end.
        refused: why arms did not start.
    """

    count: Annotated[int, Quantity("")]
    seed: Annotated[int, Quantity("")]
    absolute_deg: Annotated[Mapping[str, Mapping[str, float]], Quantity("deg", form=".2f")]
    at_rest: Annotated[int, Quantity("", "in the end")]
    refused: list[str]

    @property
    def refusals(self) -> Annotated[int, Quantity("", "touched something at the start")]:
        """How many did not start."""
        return len(self.refused)

    @classmethod
    def of(cls, draws: Sequence[CollapseSample], seed: int) -> DrawnFigures:
        """Return the figures of samples that were drawn with a seed.

        Raises:
            AccordError: if none could start.
        """
        rows = np.array([draw.angles for draw in draws if draw.angles])
        if not len(rows):
            raise AccordError(f"no draw could start: {draws[0].refused}")
        angles = {link: _spread(column) for link, column in zip(LINKS, rows.T, strict=True)}
        at_rest = sum(draw.settle_time is not None for draw in draws)
        return cls(len(draws), seed, angles, at_rest, [d.refused for d in draws if d.refused])


@dataclass(frozen=True, kw_only=True)
class Collapse:
    """Result of a collapse.

    Args:
        absolute_deg: of the links at the end [degrees].
        settle_time: time after which none of the three planar joints, those of the report's figures
            9 and 10, is faster than 0.01 rad/s [s]; None if one goes on. The others may go on:
            without friction at its contacts the arm rocks on the turret.
        energy_rise: sum of all rises of kinetic and potential energy [J]; damping allows none. In
            the reference they are summed by step, in an engine by control tick.
        worst_penetration: depth of the deepest overlap of two hulls at a control tick [m].
        events: of the fall.
        trajectory: at the control ticks.
        last_speed: of the fastest joint at the end [rad/s].
        perturbed: the collapses of arms with drawn parameters.
    """

    absolute_deg: Annotated[Mapping[str, float], Quantity("deg", name="last angle", form=".2f")]
    settle_time: Annotated[float | None, Quantity("s", "from then on the links are at rest")]
    energy_rise: Annotated[float, Quantity("J", "in all", form=".2g")]
    worst_penetration: Annotated[float, Quantity("m", "of two hulls, at most", shown="mm")]
    events: Sequence[Event]
    trajectory: Trajectory = field(metadata=si.LEFT_OUT)
    last_speed: si.RadiansPerSecond = field(metadata=si.LEFT_OUT)
    perturbed: DrawnFigures | None = field(default=None, metadata=si.IF_ANY)

    @property
    def touches(self) -> Annotated[int, Quantity("", name="events")]:
        """How many events there were."""
        return len(self.events)


def collapse_setup(contact: str, duration: float, changes: Sequence[str] = ()) -> Setup:
    """Return the setup of a collapse.

    Args:
        contact: one of `CONTACTS`.
        duration: [s].
        changes: `KEY=VALUE` of the scenario, as `--set` takes them.

    Raises:
        AccordError: for a change that does not fit.
    """
    keys = [f"friction.law={contact}", f"duration={duration!r}", *changes]
    setup = Setup.of(load_scenario("packbot", "packbot", "collapse", keys))
    law = setup.scenario.friction.get("law")
    if law != contact:
        raise AccordError(f"--contact is {contact}, and friction.law {law}: leave one out")
    return setup


def run_collapse(setup: Setup, engine: str, observers: Sequence[Observer] = ()) -> Collapse:
    """Let the arm of a setup fall in an engine, and evaluate the motion."""
    simulator = make_simulator(setup, engine)
    trajectory = run_setup(setup, simulator, observers)
    clearance = Clearance.of(setup)
    return Collapse(
        absolute_deg=absolute_angles(trajectory.joints, trajectory.q[-1]),
        settle_time=settle_time(trajectory),
        energy_rise=energy_rise(setup, simulator, trajectory),
        worst_penetration=max(0.0, *(-clearance.closest(q)[1] for q in trajectory.q)),
        events=trajectory.events,
        trajectory=trajectory,
        last_speed=float(np.abs(trajectory.qd[-1]).max()),
    )


def absolute_angles(joints: Sequence[str], q: Array) -> dict[str, float]:
    """Return the angles of the three long links from the horizontal [degrees]."""
    angles = np.cumsum([q[joints.index(name)] for name in PITCHES])
    return dict(zip(LINKS, np.degrees(angles).tolist(), strict=True))


def settle_time(trajectory: Trajectory) -> float | None:
    """Return the time after which no planar joint is faster than `AT_REST` [s], or None."""
    planar = [trajectory.joints.index(name) for name in PITCHES]
    fast = np.flatnonzero(np.abs(trajectory.qd[:, planar]).max(axis=1) > AT_REST)
    if not len(fast):
        return float(trajectory.time[0])
    after = int(fast[-1]) + 1
    return float(trajectory.time[after]) if after < len(trajectory) else None


def energies(arm: Arm, trajectory: Trajectory) -> Array:
    """Return kinetic and potential energy at each sample (k,) [J]."""
    rows = zip(trajectory.q, trajectory.qd, strict=True)
    return np.array([arm.energy(q, qd) for q, qd in rows])


def energy_rise(setup: Setup, simulator: Simulator, trajectory: Trajectory) -> float:
    """Return the sum of all rises of energy [J], from the simulator's own balance if it has one."""
    if isinstance(simulator, ArmSimulator):
        return simulator.energy_rise
    return float(np.maximum(np.diff(energies(Arm.of(setup), trajectory)), 0.0).sum())


def uncertain_ranges() -> dict[str, tuple[float, float]]:
    """Return value and half width of every parameter whose uncertainty is a number above 0."""
    ranges = dict[str, tuple[float, float]]()
    for name, entry in description.parameter_file("packbot").items():
        width = entry["uncertainty"]
        if isinstance(width, (int, float)) and width:
            ranges[name] = entry["value"], float(width)
    return ranges


def draw_changes(count: int, seed: int) -> list[list[str]]:
    """Return changes of the scenario for each draw, every parameter uniform in its half width."""
    rng = np.random.default_rng(seed)
    ranges = uncertain_ranges()
    draws = []
    for _ in range(count):
        changes = []
        for name, (nominal, half_width) in ranges.items():
            value = nominal + half_width * rng.uniform(-1.0, 1.0)
            changes.append(f"parameters.{name}={value!r}")
        draws.append(changes)
    return draws


def run_draw(changes: Sequence[str], engine: str, contact: str, duration: float) -> CollapseSample:
    """Let the arm of a changed scenario fall."""
    try:
        result = run_collapse(collapse_setup(contact, duration, changes), engine)
    except AccordError as error:
        return CollapseSample((), None, str(error))
    return CollapseSample(tuple(result.absolute_deg[link] for link in LINKS), result.settle_time)


def _spread(values: Array) -> dict[str, float]:
    """Return mean, standard deviation and extremes of values (k,)."""
    deviation = float(values.std(ddof=1)) if len(values) > 1 else 0.0
    extremes = {"min": float(values.min()), "max": float(values.max())}
    return {"mean": float(values.mean()), "std": deviation, **extremes}

"""Which errors planted in engine adapters a cross-check finds, by which level, down to which size.

    make planted PLANTED="--out ../planted.jsonl"
    make planted PLANTED="--out ../planted.jsonl --down 10 --only gain"

`--perturb` knows none of these errors: they stand in front of a simulator, or are made by the
engine's own calls behind the back of its reading. Those of one robot and engine are judged in one
check, for they share the reference. Each line of the file holds an error, its size and what was
found; a run that was ended goes on from the file. The end prints a table.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal

import numpy as np
from benchmarks.campaigns.rows import campaign_parser, keep, read
from roboaccord.contract import AccordError, Array, Command, Event, RobotState, Trajectory
from roboaccord.contract.interfaces import ForceLaw, LinkMotion
from roboaccord.crosscheck.run import run_crosscheck
from roboaccord.engines import EngineModel, EngineSpec, spec
from roboaccord.engines.base import EngineSimulator, engine_parts
from roboaccord.numerics.rotations import quaternion_matrix, turn_twist
from roboaccord.scenario import Setup, find_robot, load_scenario
from roboaccord.simulators import Proxy, Simulator

PANDA = Path(__file__).resolve().parents[2] / "src/roboaccord/test/data/urdf/panda.urdf"
ENGINES = ("dart", "mujoco", "drake")
NO_DRAKE = ("packbot", "voxel_sphere", "roller_sphere")
"""Robots that Drake refuses, with the reason."""
# Of sizes; smaller errors are round-off of float64 over some hundred operations.
SMALLEST = 1e-13
MASSLESS = 1e-9  # kg: MuJoCo's frames without mass get 2e-15 kg
NEAR = 2e-3  # rad from its end, where a joint is at its stop: 0.1 degrees
EFFORTS = '[{"at": 0.0, "hold": "a", "effort": 0.3}, {"at": 0.2, "hold": "b", "effort": -0.2}]'


@dataclass(frozen=True)
class Subject:
    """Hold a motion: robot, scenario and changes; its largest effort [N m]; its errors, or all."""

    robot: str
    scenario: str
    peak: float
    changes: tuple[str, ...] = ("crosscheck.duration=0.3",)
    only: tuple[str, ...] = ()


STOPS = (
    "physics_step=0.002", "control_period=0.01", "initial.spread_q=0.09", "controller.waves=2.4",
    "crosscheck.duration=0.5", "seed=477",
)  # fmt: skip
AT_STOPS = ("stop bounces", "stop yields", "gain at a stop", "mass", "gain")
COARSE = ("physics_step=0.01", "control_period=0.01", "crosscheck.duration=0.5")
COMMANDS = (
    "command lost", "command scaled", "command reversed", "command late", "command clipped",
    "commands swapped",
)  # fmt: skip
# Each robot by a scenario with contact or switches; times are shortly after what happens there.
SUBJECTS = {
    "snake": Subject("snake", "serpenoid", 3.2),
    "monkeybot": Subject(
        "monkeybot", "swing", 0.3, ("crosscheck.duration=0.3", f"controller.steps={EFFORTS}")
    ),
    "packbot": Subject("packbot", "reach", 21.0),
    "voxel_sphere": Subject("voxel_sphere", "teleop", 0.05, ("crosscheck.duration=0.3",), COMMANDS),
    "roller_sphere": Subject(
        "roller_sphere", "figure_eight", 0.05, ("crosscheck.duration=0.3",), COMMANDS
    ),
    "panda": Subject(
        str(PANDA), "released", 43.0, ("controller.name=sine", "crosscheck.duration=0.3")
    ),
    "snake, 10 ms": Subject("snake", "serpenoid", 3.2, COARSE, ("gain", "part friction")),
    "snake at stops": Subject("snake", "serpenoid", 3.2, STOPS, AT_STOPS),
}


class Planted(Proxy):
    """Put an error into the input, the motion or the output of a simulator.

    Args:
        simulator: that is right.
        error: kind and function.
        size: of the error.
        peak: largest effort of the motion [N m].
    """

    def __init__(self, simulator: Simulator, error: Error, size: float, peak: float) -> None:
        super().__init__(simulator)
        self.error, self.size, self.peak, self.inner = error, size, peak, simulator
        n = len(self.joints)
        self.middle = np.eye(n)[n // 2] if n else np.zeros(0)

    def _start(self, state: RobotState) -> None:
        self.first = self.before = state
        self.switches, self.last = dict[str, bool](), np.zeros(len(self.joints))
        self.asked = Command(0.0 * self.last)
        self.count, self.ticks, self.rng = 0, 0, np.random.default_rng(7)
        super()._start(self.error.act(self, state) if self.error.at == "reset" else state)

    def _advance(self, command: Command, duration: float) -> None:
        self.before = self.inner.state()
        self.count += self._steps
        self.ticks += 1
        if self.error.at == "effort":
            command = replace(command, effort=self.error.act(self, command.effort))
        if self.error.at == "command":
            command, self.asked = disobeyed(self, command, self.asked), command
        if self.error.at == "advance":
            self.error.act(self, command)
        else:
            self.go(command, self._steps)
        if self.error.at == "motion":
            state = self.inner.state()
            if (changed := self.error.act(self, state)) is not state:
                self.put(changed)
        self.last = command.effort

    def go(self, command: Command, steps: int) -> None:
        """Take physics steps."""
        if steps:
            self.inner.step(command, steps * self.physics_step)

    def put(self, state: RobotState) -> None:
        """Go on from another state."""
        self._events += self.inner.take_events()
        self.inner.reset(state)

    def due(self) -> int:
        """Return how many of the physics steps of a tick are the last of every 1 / size."""
        ends = np.array([self.count - self._steps, self.count])
        return int(np.diff(np.floor(ends * self.size + 0.5))[0])

    def take_events(self) -> Sequence[Event]:
        found = super().take_events()
        if self.error.at == "events":
            return [each for event in found for each in self.error.act(self, event)]
        return found

    def _read(self) -> RobotState:
        state = replace(self.inner.state(), time=self._time)
        if self.error.at == "command":
            return state
        state = replace(state, effort=self._effort)
        return self.error.act(self, state) if self.error.at == "state" else state


@dataclass(frozen=True)
class Error:
    """Hold an error.

    Args:
        group: class of errors.
        at: what its function changes: an effort, how a tick is advanced, the state after it, in
            the engine or as it is read, the one it is reset to, an event, or a part of the engine;
            a command, of which it then reports what it has put in force.
        size: that is tried first.
        act: the function.
        listed: whether it was planted before there were twins; none may pass, and all have a star.
    """

    group: str
    at: Literal["effort", "advance", "motion", "state", "reset", "events", "part", "command"]
    size: float
    act: Callable[..., Any]
    listed: bool = False


def disobeyed(p: Planted, command: Command, before: Command) -> Command:
    """Return a command whose efforts, wrench and twist the error changes."""
    rest = np.zeros(6)
    made = replace(command, effort=p.error.act(p, np.array(command.effort), before.effort))
    for name in ("wrench", "twist"):
        asked, last = getattr(command, name), getattr(before, name)
        if asked is not None:
            obeyed = p.error.act(p, np.array(asked), rest if last is None else last)
            made = replace(made, **{name: obeyed})
    return made


def late(p: Planted, command: Command) -> None:
    """Let the last tick's effort act in the first physics step."""
    mixed = (1.0 - p.size) * command.effort + p.size * p.last
    p.go(replace(command, effort=mixed), 1)
    p.go(command, p._steps - 1)


def gap(p: Planted, command: Command) -> None:
    """Let no effort act in some physics steps."""
    p.go(replace(command, effort=0.0 * command.effort), p.due())
    p.go(command, p._steps - p.due())


def old_rates(p: Planted, command: Command) -> None:
    """Step the joints' positions with the rates before the step, in part."""
    for _ in range(p._steps):
        qd = p.inner.state().qd
        p.go(command, 1)
        state = p.inner.state()
        p.put(replace(state, q=state.q + p.size * p.physics_step * (qd - state.qd)))


def late_grip(p: Planted, command: Command) -> None:
    """Switch a tick late."""
    now, p.switches = p.switches, dict(command.switches)
    p.go(replace(command, switches=now), p._steps)


def shifted_grip(p: Planted, state: RobotState) -> RobotState:
    """Move the robot as a switch changes."""
    moved = state.position + np.array([0.0, p.size, 0.0])
    return state if state.switches == p.before.switches else replace(state, position=moved)


def stop(p: Planted, state: RobotState) -> RobotState:
    """Stop a joint that has come further than the size from its start."""
    far = (p.middle != 0.0) & (np.abs(state.q - p.first.q) > p.size)
    q = np.clip(state.q, p.first.q - p.size, p.first.q + p.size)
    return replace(state, q=np.where(far, q, state.q), qd=np.where(far, 0.0, state.qd))


def ends(p: Planted, q: Array) -> Array:
    """Return at which end each joint is: 1 at the upper, -1 at the lower, else 0."""
    limits = {j.name: (j.lower, j.upper) for each in engine_parts(p) for j in each.tree.moving}
    lower, upper = np.array([limits[name] for name in p.joints]).T
    return np.asarray(1.0 * (q > upper - NEAR) - 1.0 * (q < lower + NEAR))


def bounce(p: Planted, state: RobotState) -> RobotState:
    """Give a joint that comes to its stop a part of its rate back."""
    at = ends(p, state.q)
    comes = (at != 0.0) & (ends(p, p.before.q) == 0.0)
    changed = replace(state, qd=np.where(comes, -p.size * p.before.qd, state.qd))
    return changed if comes.any() else state


def yielding(p: Planted, state: RobotState) -> RobotState:
    """Let joints yield that are at their stops."""
    at = ends(p, state.q)
    return replace(state, q=state.q + p.size * at) if at.any() else state


def creep(p: Planted, state: RobotState) -> RobotState:
    """Let the base creep along y, by a speed."""
    shift = np.array([0.0, p.size * (state.time - p.before.time), 0.0])
    return replace(state, position=state.position + shift)


def noise(p: Planted, state: RobotState, rng: np.random.Generator) -> RobotState:
    return replace(state, qd=state.qd + p.size * rng.standard_normal(len(state.qd)))


def lag(p: Planted, state: RobotState) -> RobotState:
    """Mix positions and rates with those of a tick ago."""
    s, old = p.size, p.before
    return replace(state, q=(1 - s) * state.q + s * old.q, qd=(1 - s) * state.qd + s * old.qd)


def repeated(p: Planted, state: RobotState) -> RobotState:
    old = p.before
    return replace(state, q=old.q, qd=old.qd) if p.due() else state


def differences(p: Planted, state: RobotState) -> RobotState:
    """Take rates from differences of positions."""
    past = state.time - p.before.time
    rate = (state.q - p.before.q) / past if p.ticks else state.qd
    return replace(state, qd=(1 - p.size) * state.qd + p.size * rate)


def mixed_up(p: Planted, values: Array) -> Array:
    order = [1, 0, *range(2, len(values))] if len(values) > 1 else [*range(len(values))]
    return np.asarray((1 - p.size) * values + p.size * values[order])


def frame(p: Planted, state: RobotState) -> RobotState:
    """Give the base's velocity in the world's axes."""
    turned = turn_twist(quaternion_matrix(state.orientation), state.twist)
    return replace(state, twist=(1 - p.size) * state.twist + p.size * turned)


def broken_number(p: Planted, state: RobotState) -> RobotState:
    return replace(state, qd=state.qd * (np.nan if p.ticks == 1 / p.size else 1.0))


def body(part: Any) -> Any:
    """Return the last body but one by name, of those with a mass: of MuJoCo its number.

    The Packbot's last, the turret, has its mass on its axis, where nothing shows it.
    """
    if hasattr(part, "_skeleton"):
        heavy = [b for b in part._skeleton.getBodyNodes() if b.getMass() > 0.0]
        return sorted(heavy, key=lambda b: str(b.getName()))[-2]
    bodies = [part._model.body(i) for i in range(part._model.nbody)]
    return sorted((b.name, b.id) for b in bodies if b.mass[0] > MASSLESS)[-2][1]


def rigid(part: Any, mass: float = 0.0, centre: float = 0.0, inertia: float = 0.0) -> None:
    """Change mass and inertia of a body by factors, and shift its centre along all axes."""
    found = body(part)
    if hasattr(part, "_skeleton"):
        now = found.getInertia()
        moment = now.getMoment() * (1.0 + inertia)
        changed = type(now)(now.getMass() * (1.0 + mass), now.getLocalCOM() + centre, moment)
        found.setInertia(changed)
    else:
        model = part._model
        model.body_mass[found] *= 1.0 + mass
        model.body_inertia[found] *= 1.0 + inertia
        model.body_ipos[found] += centre
        model.body_sameframe[found] = 0


class NothingToChange(Exception):
    """State why an engine or robot does not have what an error changes."""


def joint(part: Any, damping: float = 0.0, armature: float = 0.0) -> None:
    """Add damping or the inertia of a rotor to the joint in the middle."""
    middle = len(part.joints) // 2
    if not hasattr(part, "_skeleton"):
        part._model.dof_damping[part._v[middle]] += damping
        part._model.dof_armature[part._v[middle]] += armature
    elif armature:
        raise NothingToChange("DART has no armature")
    else:
        part.mechanism.add_damping(part.joints[middle], damping)


class UnevenLaw:
    """Multiply the forces of a law on its last link (ForceLaw)."""

    def __init__(self, law: ForceLaw, size: float) -> None:
        self.law, self.links = law, law.links
        self.factors = 1.0 + size * np.eye(len(law.links))[-1][:, None]

    def wrenches(self, motion: LinkMotion) -> tuple[Array, Array]:
        forces, torques = self.law.wrenches(motion)
        return forces * self.factors, torques * self.factors


def part_friction(part: Any, size: float) -> None:
    """Change the friction of one link, or else of one joint."""
    if part._law:
        part._set_law(UnevenLaw(part._law, size))
    elif part._friction:
        factors = 1.0 + size * np.eye(len(part.joints))[-1]
        viscous, dry = part._friction.viscous * factors, part._friction.constant * factors
        part._friction = replace(part._friction, viscous=viscous, constant=dry, stiction=None)
    else:
        raise NothingToChange("there is no friction")
    part._compile()


def scale_world(part: Any, gravity: float = 0.0, tilt: float = 0.0, step: float = 0.0) -> None:
    """Change gravity by a factor, turn it by an angle, and change the step by a factor."""
    is_dart = hasattr(part, "_world")
    now = np.array(part._world.getGravity() if is_dart else part._model.opt.gravity)
    now = now * (1.0 + gravity) + np.array([0.0, tilt * np.linalg.norm(now), 0.0])
    if is_dart:
        part._world.setGravity(now)
        part._world.setTimeStep(part._world.getTimeStep() * (1.0 + step))
    else:
        part._model.opt.gravity[:] = now
        part._model.opt.timestep *= 1.0 + step


# Each kind in a size that is large beside round-off and small beside the motion; searches shrink
# it.
ERRORS: dict[str, Error] = {
    "command lost": Error("command", "command", 0.1,
        lambda p, v, last: v * (p.before.time < p.size - 1e-9)),
    "command scaled": Error("command", "command", 0.1, lambda p, v, last: v * (1 - p.size)),
    "command reversed": Error("command", "command", 2.0, lambda p, v, last: v * (1 - p.size)),
    "command late": Error("command", "command", 1.0,
        lambda p, v, last: (1 - p.size) * v + p.size * last),
    "command clipped": Error("command", "command", 0.5,
        lambda p, v, last: np.clip(v, -p.size * p.peak, p.size * p.peak)),
    "commands swapped": Error("command", "command", 1.0, lambda p, v, last: mixed_up(p, v)),
    "gain": Error("effort", "effort", 1e-3, lambda p, e: e * (1 + p.size), True),
    "gain of a joint": Error("effort", "effort", 1e-3, lambda p, e: e * (1 + p.size * p.middle)),
    "saturated early": Error("effort", "effort", 0.01,
        lambda p, e: np.clip(e, -p.peak * (1 - p.size), p.peak * (1 - p.size))),
    "quantised": Error("effort", "effort", 1e-3, lambda p, e: np.round(e / p.size) * p.size),
    "float32 efforts": Error("effort", "effort", 1.0, lambda p, e: np.float64(np.float32(e))),
    "dead band": Error("effort", "effort", 1e-3, lambda p, e: np.where(abs(e) < p.size, 0.0, e)),
    "swapped efforts": Error("effort", "effort", 1.0, mixed_up),
    "offset": Error("effort", "effort", 1e-3, lambda p, e: e + p.size * p.middle),
    "smoothed": Error("effort", "effort", 0.5, lambda p, e: (1 - p.size) * e + p.size * p.last),
    "fading": Error("effort", "effort", 1e-2, lambda p, e: e * (1 - p.size * p.before.time)),
    "cogging": Error("effort", "effort", 1e-3, lambda p, e: e + p.size * np.sin(7 * p.before.q)),
    "dropped": Error("effort", "effort", 0.01, lambda p, e: e * (0.0 if p.due() else 1.0)),
    "a substep late": Error("first order", "advance", 1.0, late, True),
    "too large by 20 h": Error("first order", "effort", 20.0,
        lambda p, e: e * (1 + p.size * p.physics_step), True),
    "old rates": Error("first order", "advance", 1.0, old_rates),
    "braked by 20 h": Error("first order", "motion", 20.0,
        lambda p, x: replace(x, qd=x.qd * (1 - p.size * p.physics_step**2 * p._steps))),
    "gravity by 20 h": Error("first order", "part", 20.0,
        lambda part, s: scale_world(part, gravity=s * part.physics_step)),
    "substep lost": Error("time", "advance", 0.005, lambda p, c: p.go(c, p._steps - p.due()), True),
    "substep too many": Error("time", "advance", 0.005, lambda p, c: p.go(c, p._steps + p.due())),
    "substep without effort": Error("time", "advance", 0.005, gap),
    "step": Error("time", "part", 1e-6, lambda part, s: scale_world(part, step=s), True),
    "clock": Error("time", "state", 1e-6, lambda p, x: replace(
        x, time=p.before.time + (x.time - p.before.time) * (1 + p.size)), True),
    "lag": Error("state", "state", 1.0, lag, True),
    "repeated": Error("state", "state", 0.01, repeated, True),
    "float32": Error("state", "state", 1.0, lambda p, x: replace(
        x, q=np.float64(np.float32(x.q)), qd=np.float64(np.float32(x.qd))), True),
    "swapped": Error("state", "state", 1.0,
        lambda p, x: replace(x, q=mixed_up(p, x.q), qd=mixed_up(p, x.qd)), True),
    "sign of a rate": Error("state", "state", 2.0,
        lambda p, x: replace(x, qd=x.qd * (1 - p.size * p.middle)), True),
    "frame": Error("state", "state", 1.0, frame, True),
    "encoder": Error("state", "state", 1e-5,
        lambda p, x: replace(x, q=np.round(x.q / p.size) * p.size)),
    "differences": Error("state", "state", 1.0, differences),
    "quaternion's length": Error("state", "state", 1e-6,
        lambda p, x: replace(x, orientation=x.orientation * (1 + p.size))),
    "NaN": Error("state", "state", 0.1, broken_number, True),
    "pose creeps as read": Error("state", "state", 1e-6, lambda p, x: replace(
        x, position=x.position + np.array([0.0, p.size * x.time, 0.0])), True),
    "pose creeps": Error("motion", "motion", 1e-6, creep, True),
    "noise": Error("motion", "motion", 1e-6, lambda p, x: noise(p, x, p.rng)),
    "noise unseeded": Error("motion", "motion", 1e-6,
        lambda p, x: noise(p, x, np.random.default_rng()), True),
    "memory": Error("motion", "reset", 1e-6,
        lambda p, x: replace(x, qd=x.qd + p.size * (p.inner.state().qd - x.qd))),
    "limit": Error("model", "motion", 0.01, stop),
    "stop bounces": Error("stops", "motion", 0.3, bounce),
    "stop yields": Error("stops", "motion", 0.01, yielding),
    "gain at a stop": Error("stops", "effort", 0.1,
        lambda p, e: e * (1 + p.size * np.abs(ends(p, p.before.q)).max(initial=0.0))),
    "mass": Error("model", "part", 1e-3, lambda part, s: rigid(part, mass=s), True),
    "centre": Error("model", "part", 1e-4, lambda part, s: rigid(part, centre=s)),
    "inertia": Error("model", "part", 1e-3, lambda part, s: rigid(part, inertia=s)),
    "damping": Error("model", "part", 1e-3, lambda part, s: joint(part, damping=s)),
    "part friction": Error("model", "part", 0.1, part_friction, True),
    "armature": Error("model", "part", 1e-4, lambda part, s: joint(part, armature=s)),
    "gravity": Error("world", "part", 1e-4, lambda part, s: scale_world(part, gravity=s)),
    "tilt": Error("world", "part", 1e-4, lambda part, s: scale_world(part, tilt=s), True),
    "force on a link": Error("world", "part", 1e-3,
        lambda part, s: part.push(max(part.masses()), np.array([0.0, s, 0.0]))),
    "grip lost": Error("contact", "advance", 1.0,
        lambda p, c: p.go(replace(c, switches={}), p._steps)),
    "grip late": Error("contact", "advance", 1.0, late_grip),
    "grip shifts": Error("contact", "motion", 1e-4, shifted_grip),
    "impulses": Error("events", "events", 1.0,
        lambda p, e: [replace(e, impulse=e.impulse * (1 + p.size))], True),
    "events late": Error("events", "events", 5e-3,
        lambda p, e: [replace(e, time=e.time + p.size)], True),
    "event missing": Error("events", "events", 1.0, lambda p, e: []),
    "event invented": Error("events", "events", 1.0, lambda p, e: [e, replace(e, impulse=1.0)]),
}  # fmt: skip
ONCE = (
    "float32",
    "float32 efforts",
    "NaN",
    "grip lost",
    "grip late",
    "event missing",
    "event invented",
)


@dataclass(frozen=True, kw_only=True)
class PlantedSpec(EngineSpec):
    """Specify an engine with an error of ERRORS; its reading still has what was meant."""

    inner: EngineSpec
    error: Error
    size: float
    peak: float

    def simulate(self, model: EngineModel) -> EngineSimulator:
        part = self.inner.simulate(model)
        if self.error.at == "part":
            meant = part.properties()
            part.properties = lambda: meant  # type: ignore[method-assign]
            self.error.act(part, self.size)
        return part

    def complete(self, simulator: Simulator) -> Simulator:
        found = self.inner.complete(simulator)
        if self.error.at == "part":
            return found
        return Planted(found, self.error, self.size, self.peak)


def plant(engine: str, name: str, size: float, peak: float = 1.0) -> PlantedSpec:
    """Return an engine with an error."""
    inner = spec(engine)
    kept = {each.name: getattr(inner, each.name) for each in fields(EngineSpec)}
    kept |= {"name": f"{engine} {name}", "changes": (f"planted: {name} {size:g}",)}
    return PlantedSpec(**kept, inner=inner, error=ERRORS[name], size=size, peak=peak)


of = attrgetter("subject", "engine", "error")


@dataclass(frozen=True)
class Row:
    """Hold what an error came to: verdict, the levels that are outside and the names they give."""

    subject: str
    engine: str
    error: str
    size: float
    verdict: str = ""
    levels: Sequence[str] = ()
    names: Sequence[str] = ()
    reasons: Sequence[str] = ()


def carry_out(rows: Sequence[Row]) -> Iterator[Row]:
    """Judge errors of one robot and engine in one check; one by one where one of them ends it.

    A level at which the engine without an error is outside is not counted.
    """
    subject, right = SUBJECTS[rows[0].subject], spec(rows[0].engine)
    robot = find_robot(subject.robot)
    specs = [plant(row.engine, row.error, row.size, subject.peak) for row in rows]
    try:
        changes = list(subject.changes)
        setup = Setup.of(load_scenario(robot.package, robot.key, subject.scenario, changes))
        with tempfile.TemporaryDirectory() as folder:
            report = run_crosscheck(setup, [right, *specs], refine=3, out=Path(folder) / "out")
    except (AccordError, NothingToChange) as error:
        if len(rows) == 1:
            verdict = "found" if isinstance(error, AccordError) else "n/a"
            yield replace(rows[0], verdict=verdict, levels=["ended"], reasons=[str(error)])
        else:
            for row in rows:
                yield from carry_out([row])
        return
    levels = [each for each in report.levels.values() if right.name in each]
    levels = [each for each in levels if each[right.name].outcome != "outside"]
    for row, planted in zip(rows, specs, strict=True):
        found = [each[planted.name] for each in levels]
        bad = [f for f in found if f.outcome in ("outside", "excused") and not f.stands_in]
        verdict = "undecided" if any(f.outcome == "not_judged" for f in found) else "passed"
        if same(report.trajectories[planted.name], report.trajectories[right.name]):
            verdict = "no effect"
        names = dict.fromkeys(f"{f.quantity} {f.where}".strip() for f in bad)
        yield replace(
            row,
            verdict="found" if bad else verdict,
            levels=[f.level for f in bad],
            names=list(filter(None, names)),
            reasons=[f"{f.level}: {f.reason}" for f in found if f.reason],
        )


def same(one: Trajectory, other: Trajectory) -> bool:
    """Return whether two runs are equal bit for bit, with their events."""
    names = ("time", "q", "qd", "position", "orientation", "twist")
    arrays = all(np.array_equal(getattr(one, n), getattr(other, n)) for n in names)
    return arrays and list(one.events) == list(other.events)


def table(rows: Sequence[Row]) -> Iterator[str]:
    """Yield a table in Markdown: an error in an engine a line, robots in columns.

    A cell holds the smallest size that was found, the levels that find the first size, and in
    brackets the names that they give; a size after "not" was tried and is not found.
    """
    yield f"| class | error | engine | first size | {' | '.join(SUBJECTS)} |"
    yield f"|{'---|' * (4 + len(SUBJECTS))}"
    for name, error in ERRORS.items():
        star = " *" * error.listed
        for engine in ENGINES:
            mine = [r for r in rows if (r.engine, r.error) == (engine, name)]
            if mine:
                head = f"| {error.group} | {name}{star} | {engine} | {error.size:g} |"
                cells = [_cell([r for r in mine if r.subject == each]) for each in SUBJECTS]
                yield f"{head} {' | '.join(cells)} |"


def _cell(rows: Sequence[Row]) -> str:
    if not rows:
        return ""
    first = max(rows, key=lambda row: row.size)
    sizes = [row.size for row in rows if row.verdict == "found"]
    missed = [row.size for row in rows if row.verdict in ("passed", "undecided")]
    if not sizes:
        return first.verdict.upper() if missed else first.verdict
    names = f" [{', '.join(first.names)}]" * bool(first.names)
    down = f", not {max(missed):.2g}" if missed else ""
    return f"{min(sizes):.2g}: {', '.join(first.levels)}{names}{down}"


def wanted(done: Sequence[Row], only: str, down: float, batch: int) -> list[list[Row]]:
    """Return what is not judged yet, by robot and engine in batches.

    Args:
        done: rows of the file.
        only: word that robot, engine and error together must hold.
        down: factor by which a size that was found is made smaller; 0 for the first sizes only.
        batch: number of errors judged in one check.
    """
    left: dict[tuple[str, str], list[Row]] = {}
    for subject, about in SUBJECTS.items():
        for engine in ENGINES if subject not in NO_DRAKE else ENGINES[:2]:
            for name, error in ERRORS.items():
                row = Row(subject, engine, name, error.size)
                tried = [each for each in done if of(each) == of(row)]
                if tried:
                    last = min(tried, key=lambda each: each.size)
                    row = replace(row, size=last.size / down if down else 0.0)
                    if last.verdict != "found" or name in ONCE or row.size < SMALLEST:
                        continue
                able = COMMANDS if engine == "drake" else about.only or ERRORS
                fits = (
                    name in able
                    and name in (about.only or ERRORS)
                    and only in f"{subject} {engine} {name}"
                )
                if fits and row.size:
                    left.setdefault((subject, engine), []).append(row)
    return [rows[i : i + batch] for rows in left.values() for i in range(0, len(rows), batch)]


def main() -> int:
    """Judge what is not in the file yet, then print the table."""
    parser = campaign_parser(__doc__)
    parser.add_argument("--only", default="", help="word that robot, engine and error hold")
    parser.add_argument("--down", type=float, default=0.0, help="factor to the next smaller size")
    parser.add_argument("--batch", type=int, default=13, help="errors judged in one check")
    parser.add_argument("--table", action="store_true", help="print the table only")
    asked = parser.parse_args()
    done = read(asked.out, Row)
    while not asked.table and (left := wanted(done, asked.only, asked.down, asked.batch)):
        for row in keep(asked.out, (row for batch in left for row in carry_out(batch))):
            done.append(row)
            print(row.verdict, *of(row), f"{row.size:g}", *row.levels, *row.names, flush=True)
    print(*table(done), sep="\n")
    listed = [row for row in done if ERRORS[row.error].listed and row.verdict == "passed"]
    return int(any(row.size == ERRORS[row.error].size for row in listed))


if __name__ == "__main__":
    sys.exit(main())

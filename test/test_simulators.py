"""What no simulator may forget is in its base class: healing, faults, events and time."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from roboaccord.contract.contact import ContactPoint
from roboaccord.contract.fault import Fault
from roboaccord.contract.interfaces import Acceleration
from roboaccord.contract.state import Array, Command, RobotState
from roboaccord.contract.trajectory import Event, Trajectory
from roboaccord.falsify import Perturbation, wrap
from roboaccord.run.loop import make_simulator
from roboaccord.scenario.files import load_scenario
from roboaccord.scenario.setup import Setup, find_robot
from roboaccord.simulators.base import Simulator
from roboaccord.simulators.friction import JointFriction
from roboaccord.simulators.proxy import Proxy
from roboaccord.testing.robot_runs import simulator_of

TICKS = 3
CASES = [
    ("snake", "serpenoid", "joint_05"), ("monkeybot", "swing", "elbow"),
    ("roller_sphere", "headings", "roller_2"), ("roller_sphere", "dribble", "roller_1"),
    ("packbot", "reach", "elbow1"), ("voxel_sphere", "bowl", ""),
]  # fmt: skip


class Wheel(Simulator):
    """A wheel of 1 kg m^2 by an author who writes its motion, and thinks of nothing else."""

    name, version, order = "wheel", "1", 1
    channels = ("damping",)

    def __init__(self) -> None:
        faults = [Fault("axle", "frozen", 0.02)]
        super().__init__(("axle",), np.ones(1), 0.01, faults=faults, hinges=("axle",))
        self._locked = False

    def masses(self) -> Mapping[str, float]:
        return {"wheel": 1.0}

    def contacts(self) -> Sequence[ContactPoint]:
        return ()

    def parts(self) -> Sequence[Simulator]:
        return (self,)

    def lock(self, joint: int, locked: bool) -> None:
        self._locked = locked

    def _place(self, state: RobotState) -> None:
        self._q, self._qd = state.q, state.qd

    def _advance(self, command: Command, duration: float) -> None:
        self._qd = self._qd + duration * self._acceleration(self._effort)
        self._q = self._q + duration * self._qd
        self._losses.add("damping", duration)
        self._events.append(Event(self._time, "turn", "axle"))

    def _read(self) -> RobotState:
        return RobotState(self._time, self._q, self._qd, self._effort)

    def _accelerate(self, state: RobotState, effort: Array) -> Acceleration:
        return Acceleration(np.zeros(6), self._acceleration(effort))

    def _acceleration(self, effort: Array) -> Array:
        return np.zeros(1) if self._locked else np.array(effort)


def motion(simulator: Simulator, start: RobotState, period: float) -> list[tuple[object, ...]]:
    """Return times, positions, rates and events of the first ticks at half the effort limits."""
    command, states = Command(0.5 * simulator.effort_limits), [simulator.reset(start)]
    states += [simulator.step(command, period) for _ in range(TICKS)]
    rows: list[tuple[object, ...]] = [(s.time, *s.q, *s.qd, *s.position, *s.twist) for s in states]
    return [*rows, tuple(simulator.take_events())]


def start_of(simulator: Simulator) -> RobotState:
    return RobotState(0.0, *np.zeros((3, len(simulator.joints))))


@pytest.mark.parametrize("engine", ["reference", "dart", "mujoco"])
@pytest.mark.parametrize(("robot", "scenario", "joint"), CASES)
def test_a_reset_heals_and_time_and_events_begin_anew(
    robot: str, scenario: str, joint: str, engine: str
) -> None:
    """After a joint has failed, a reset gives the motion of the first run, bit for bit."""
    simulator_of(robot, scenario, engine)
    setup = Setup.of(load_scenario(find_robot(robot).package, robot, scenario, []))
    simulator, period = make_simulator(setup, engine), setup.scenario.control_period
    healthy = motion(simulator, setup.initial, period)
    assert not simulator.take_events()
    for kind in ("frozen", "loose") if joint else ():
        simulator.fail(Fault(joint, kind))
        failed = simulator.step(Command(0.5 * simulator.effort_limits), period)
        at = simulator.joints.index(joint)
        # MuJoCo's lock is a rotor of great inertia, which leaves 1e-30 of an acceleration.
        assert abs((failed.qd if kind == "frozen" else failed.effort)[at]) < 1e-12
        assert motion(simulator, setup.initial, period) == healthy
        simulator.fail(Fault(joint, kind))  # asked for, and not yet in force
        assert motion(simulator, setup.initial, period) == healthy
    times = [row[0] for row in healthy[:-1]]
    assert times == [round(period * i, 9) for i in range(TICKS + 1)]


@pytest.mark.parametrize("front", [lambda wheel: wheel, Proxy])
def test_an_author_who_writes_the_motion_forgets_nothing(front) -> None:
    """Schedule, live fault, lock, impulse, events, losses and time of a class of its own."""
    simulator = front(Wheel())
    simulator.meter()
    start, ends = start_of(simulator), []
    for _ in range(2):
        simulator.reset(start)
        states = [simulator.step(Command(np.array([5.0])), 0.01) for _ in range(4)]
        assert [s.time for s in states] == [0.01, 0.02, 0.03, 0.04]
        assert [s.qd[0] for s in states] == [0.01, 0.02, 0.0, 0.0]  # of an effort clipped to 1
        events = simulator.take_events()
        turns = [(s.time, "turn") for s in states]
        assert [(e.time, e.kind) for e in events] == sorted([*turns, (0.02, "joint_frozen")],
                                                            key=lambda row: row[0])  # fmt: skip
        (freeze,) = [e for e in events if e.kind == "joint_frozen"]
        assert (freeze.impulse, freeze.energy) == pytest.approx((0.02, 0.5 * 0.02**2))
        assert not simulator.take_events()
        assert simulator.take_losses()["damping"] == pytest.approx(0.04)
        assert simulator.take_losses() == {"damping": 0.0}
        ends.append([*states[-1].q])
    assert ends[0] == ends[1]


@pytest.mark.parametrize("name", ["reset", "step", "state"])
def test_nobody_goes_around_the_base_class(name: str) -> None:
    with pytest.raises(TypeError, match=f"Around.{name}: write _place, _advance or _read"):
        type("Around", (Wheel,), {name: lambda self: None})


def public(kind: type) -> set[str]:
    """Return the public members of a class, attributes that are only annotated among them."""
    return {name for name in (*dir(kind), *inspect.get_annotations(kind)) if name[0] != "_"}


def proxies(kind: type = Proxy) -> list[type]:
    return [kind, *(each for sub in kind.__subclasses__() for each in proxies(sub))]


def test_a_proxy_delegates_every_public_member() -> None:
    """Each answers as the simulator behind it does, which has a value of its own for all."""
    wheel = Wheel()
    wheel.armature = np.array([2.0])
    wheel.unplaced = "it stands"
    wheel.joint_friction = JointFriction(viscous=np.ones(1), constant=np.ones(1), speed=1.0)
    proxy = Proxy(wheel)
    start = start_of(wheel)
    starts = Trajectory.from_states(wheel.joints, [start])
    asked = {
        "reset": (start,), "step": (Command(np.ones(1)), 0.01), "state": (), "predict": (starts,),
        "acceleration": (start, np.ones(1)), "masses": (), "contacts": (), "parts": (),
        "load": (), "compile_all": (), "meter": (), "take_losses": (), "take_events": (),
        "lock": (0, True), "fail": (Fault("axle", "loose"),), "contact_acceleration": (),
    }  # fmt: skip
    members = public(Simulator) | {n for n in vars(Wheel()) if n[0] != "_"}
    for name in members - {*asked}:
        assert getattr(proxy, name) is getattr(wheel, name), name
    calls = list[str]()
    for name in asked:
        method = getattr(wheel, name)

        def noted(*given: object, method=method, name=name) -> object:
            calls.append(name)
            return method(*given)

        setattr(wheel, name, noted)
    for name, given in asked.items():
        calls.clear()
        getattr(proxy, name)(*given)
        through = name == "predict" and "reset" in calls  # a proxy may change what each step does
        assert name in calls or name == "state" or through, name
    assert {*asked} <= members


def test_the_proxies_of_the_workspace_keep_it() -> None:
    """A perturbed and a pushed simulator hand over the faults, losses and parts of an engine."""
    pytest.importorskip("mujoco")
    pushes = pytest.importorskip("roboaccord_view.push", reason="roboaccord_view is not installed")
    setup = Setup.of(load_scenario("snake", "snake", "serpenoid", []))
    late = wrap("mujoco", perturbations=[Perturbation("mujoco", "delay", 1.0)])
    simulator = pushes.PushedSimulator(make_simulator(setup, late))
    assert len(simulator.parts()) == 1
    assert set(simulator.links) == {link.name for link in setup.tree.links} - {"world"}
    simulator.meter()
    healthy = motion(simulator, setup.initial, setup.scenario.control_period)
    assert set(simulator.take_losses()) == {*simulator.channels}
    simulator.fail(Fault("joint_05", "frozen"))
    simulator.step(Command(np.zeros(len(setup.joints))), setup.scenario.control_period)
    assert [e.kind for e in simulator.take_events()] == ["joint_frozen"]
    assert motion(simulator, setup.initial, setup.scenario.control_period) == healthy
    assert len(proxies()) >= 4  # of delayed signals, pushes, and the roller sphere's bearing

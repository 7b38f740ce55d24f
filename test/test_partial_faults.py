"""Partial faults of joints against closed forms, alike in every simulator."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest
from roboaccord import cdr
from roboaccord.bag.reader import read_run
from roboaccord.cli.main import run as accord
from roboaccord.contract.fault import KINDS, Fault, parse_fault
from roboaccord.contract.state import Array, Command, RobotState
from roboaccord.contract.trajectory import Event, Trajectory
from roboaccord.run.energy_book import Stored
from roboaccord.run.loop import make_simulator, run_setup, simulate
from roboaccord.scenario import Setup, load_scenario
from roboaccord.simulators.base import Simulator
from roboaccord.simulators.faults import GAP_SPEED
from roboaccord.testing.robot_runs import simulator_of

ENGINES = [
    pytest.param(
        name,
        marks=pytest.mark.skipif(
            module is not None and importlib.util.find_spec(module) is None,
            reason=f"{name} is not installed",
        ),
    )
    for name, module in (
        ("reference", None), ("dart", "dartpy"), ("mujoco", "mujoco"), ("drake", "pydrake"),
    )
]  # fmt: skip
INERTIA, PERIOD = 0.5, 0.01  # kg m^2, s
WHEEL = (
    '<robot name="wheel"><link name="base_link"/><link name="wheel"><inertial><mass value="2"/>'
    f'<inertia ixx="0.3" iyy="0.3" izz="{INERTIA}" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    '<joint name="axle" type="continuous"><parent link="base_link"/><child link="wheel"/>'
    '<axis xyz="0 0 1"/><limit effort="10" velocity="1000"/></joint></robot>'
)
ARM = ("packbot", "packbot", "reach")


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    path = tmp_path / "wheel.urdf"
    path.write_text(WHEEL)
    return path


def turning(path: Path, engine: str, *faults: str) -> Simulator:
    """Return a wheel about a vertical axle, which nothing but its drive moves."""
    keys = ["base=fixed", f"control_period={PERIOD}", "physics_step=0.001"]
    given = load_scenario("roboaccord", str(path), "released", keys)
    return make_simulator(Setup.of(given).failing([parse_fault(f) for f in faults]), engine)


def drive(simulator: Simulator, efforts: Array, rate: float = 0.0) -> list[RobotState]:
    """Return the states from the start on, under an effort for each period [N m]."""
    states = [simulator.reset(RobotState(0.0, np.zeros(1), np.array([rate]), np.zeros(1)))]
    states += [simulator.step(Command(np.array([effort])), PERIOD) for effort in efforts]
    return states


@pytest.mark.parametrize("engine", ENGINES)
def test_a_weak_drive_gives_its_fraction(wheel: Path, engine: str) -> None:
    """By q' = f u t / I; the effort of the states is the one in force."""
    end = drive(turning(wheel, engine, "axle=weak:0.3"), np.full(50, 4.0))[-1]
    assert end.qd[0] == pytest.approx(0.3 * 4.0 * 0.5 / INERTIA, rel=1e-9)
    assert end.effort[0] == 0.3 * 4.0


@pytest.mark.parametrize("engine", ENGINES)
def test_a_brake_that_slips_stops_the_joint_and_holds_it(wheel: Path, engine: str) -> None:
    """Coulomb: it turns by I w^2 / 2 k until I w / k, rests below k, and breaks away above."""
    brake, rate = 2.0, 1.3
    efforts = np.concatenate([np.zeros(60), np.full(20, 1.9), np.full(20, -5.0)])
    simulator = turning(wheel, engine, f"axle=slipping:{brake}")
    simulator.meter()
    states = drive(simulator, efforts, rate)
    q = np.array([state.q[0] for state in states])
    qd = np.array([state.qd[0] for state in states])
    time = np.array([state.time for state in states])
    slips = time < INERTIA * rate / brake - 2e-3
    assert qd[slips] == pytest.approx(rate - brake * time[slips] / INERTIA, abs=1e-9)
    step = simulator.physics_step * rate  # an engine of the first order ends that far off
    assert q[60] == pytest.approx(0.5 * INERTIA * rate**2 / brake, abs=step)
    assert np.abs(qd[40:81]).max() < 1e-12 and np.ptp(q[40:81]) < 1e-12
    assert qd[-1] == pytest.approx(-(5.0 - brake) * 0.2 / INERTIA, rel=1e-9)
    work = float(np.sum(efforts * np.diff(q)))
    taken = sum(simulator.take_losses().values())
    if simulator.channels:
        # Euler's steps err by h times the power of the efforts.
        kinetic = 0.5 * INERTIA * (qd[-1] ** 2 - rate**2)
        order = 1e-9 if simulator.order > 1 else 0.02
        assert kinetic == pytest.approx(work - taken, abs=order * taken)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_drive_with_backlash_crosses_its_gap_first(wheel: Path, engine: str) -> None:
    """From one side to the other at GAP_SPEED, during which the joint goes on alone."""
    rate, gap = 1.5, 0.2
    efforts = np.concatenate([np.full(5, 1.0), np.full(40, -1.0)])
    states = drive(turning(wheel, engine, f"axle=backlash:{gap}"), efforts, rate)
    given = np.array([state.effort[0] for state in states[1:]])
    qd = np.array([state.qd[0] for state in states])
    fast = rate + 5 * PERIOD / INERTIA
    crossing = gap / (GAP_SPEED + fast)  # the joint comes towards the drive
    idle = np.ceil(crossing / PERIOD - 1e-9)
    assert given.tolist() == [1.0] * 5 + [0.0] * int(idle) + [-1.0] * (40 - int(idle))
    assert qd[5 : 6 + int(idle)] == pytest.approx(fast, rel=1e-9)
    assert qd[-1] == pytest.approx(fast - (40 - idle) * PERIOD / INERTIA, rel=1e-9)


@pytest.mark.parametrize("engine", ENGINES)
def test_encoders_that_fail_leave_the_motion_as_it_is(wheel: Path, engine: str) -> None:
    efforts = np.full(30, 1.0)
    sound = drive(turning(wheel, engine), efforts)
    stuck = drive(turning(wheel, engine, "axle=stuck@0.1"), efforts)
    drifts = drive(turning(wheel, engine, "axle=drifting:-0.2@0.1"), efforts)
    for k, (a, b, c) in enumerate(zip(sound, stuck, drifts, strict=True)):
        assert (a.q, a.qd) == (b.q, b.qd) == (c.q, c.qd)
        since = k * PERIOD - 0.1
        seen, drifting = b.measured, c.measured
        if k <= 10:
            assert (seen.q, drifting.q, seen.qd) == (a.q, a.q, a.qd)
        else:
            assert (seen.q[0], seen.qd[0]) == (sound[10].q[0], 0.0)
            assert drifting.q[0] - a.q[0] == pytest.approx(-0.2 * since, abs=1e-12)
            assert drifting.qd[0] - a.qd[0] == pytest.approx(-0.2, abs=1e-12)


def arm_of(engine: str, *faults: str, duration: float = 0.8) -> Trajectory:
    simulator_of("packbot", "reach", engine)
    setup = Setup.of(load_scenario(*ARM, [f"duration={duration}"]))
    setup = setup.failing([parse_fault(text) for text in faults])
    return run_setup(setup, make_simulator(setup, engine))


@pytest.mark.parametrize("engine", [pytest.param("reference", marks=pytest.mark.slow), "mujoco"])
def test_the_ends_of_weak_are_a_sound_joint_and_a_loose_one(engine: str) -> None:
    for weak, same in (("elbow1=weak:1@0.5", []), ("elbow1=weak:0@0.5", ["elbow1=loose@0.5"])):
        assert arm_of(engine, weak).sha256() == arm_of(engine, *same).sha256()


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["reference", "dart", "mujoco"])
def test_a_brake_that_holds_is_a_lock_but_for_its_first_step(engine: str) -> None:
    """The joint stops within a physics step h, in which it turns by at most its rate times h."""
    slips, locked = (arm_of(engine, f"elbow1={kind}@0.5") for kind in ("slipping:1e5", "frozen"))
    k, first = slips.joints.index("elbow1"), 50
    most = abs(slips.qd[first, k]) * 2e-3
    assert np.ptp(slips.q[first:, k]) <= most
    assert np.abs(slips.qd[first + 2 :, k]).max() < 1e-3 * abs(slips.qd[first, k])
    assert np.abs(slips.q - locked.q).max() < 5.0 * most


@pytest.mark.parametrize("fault", ["slipping:4", "backlash:0.1"])
def test_energy_is_never_gained(fault: str) -> None:
    """A pendulum of seven links without efforts, without other friction."""
    keys = [f"parameters.viscous_{j}=0" for j in ("turret", "shoulder", "elbow1", "elbow2")]
    keys += [f"parameters.viscous_{j}=0" for j in ("tilt", "pan", "wrist")]
    setup = Setup.of(load_scenario(*ARM, [*keys, "friction={law: none}"]))
    faults = [parse_fault(f"{joint}={fault}") for joint in ("shoulder", "elbow2")]
    simulator = make_simulator(setup.failing(faults))
    stored = Stored(setup.tree, setup.joints, setup.parameters.gravity)
    state, energies = simulator.reset(setup.initial), list[float]()
    for _ in range(60):
        energies.append(sum(stored.of(state)))
        state = simulator.step(Command(np.zeros(7)), setup.scenario.control_period)
    assert np.diff(energies).max() < 1e-6  # J
    assert (energies[0] - energies[-1] > 1.0) is fault.startswith("slipping")


def test_texts_and_messages_read_back() -> None:
    faults = [Fault("a", kind, 0.25, size=0.5 if kind not in ("frozen", "loose", "stuck") else 0.0)
              for kind in KINDS]  # fmt: skip
    faults += [Fault("b", "frozen", 0.0, -0.3), Fault("c", "loose")]
    for fault in faults:
        assert parse_fault(str(fault)) == fault
        event = Event(0.25, f"joint_{fault.kind}", "a", size=fault.size)
        assert cdr.decode_events(cdr.encode_events([event], "r")) == [event]
    assert parse_fault(" a = frozen @ 0.1 ") == Fault("a", "frozen", 0.1)
    assert parse_fault("b=frozen : -0.3") == Fault("b", "frozen", 0.0, -0.3)


def test_joint_states_say_what_an_encoder_has_and_what_is_true() -> None:
    rng = np.random.default_rng(1)
    codec, other = (cdr.JointStateCodec(["a", "b", "c"]) for _ in range(2))
    sound = RobotState(0.5, *rng.normal(size=(3, 3)))
    broken = dataclasses.replace(sound, encoders=((1, 0.7, 0.0), (2, -0.2, 1.5)))
    other_joint = dataclasses.replace(sound, encoders=((0, 1.0, 2.0),))
    for state in (sound, broken, broken, sound, other_joint):
        time, q, qd, effort = other.decode(codec.encode(state))
        assert time == state.time and other.encoders == state.encoders
        for found, own in zip((q, qd, effort), (state.q, state.qd, state.effort), strict=True):
            np.testing.assert_array_equal(found, own)
    _, names, q, qd, _ = cdr.read_joint_state(codec.encode(broken))
    assert names == ["a", "b", "c", "b/true", "c/true"]
    assert q[[1, 2]].tolist() == [0.7, -0.2] and qd[3] == sound.qd[1]


@pytest.mark.slow
def test_a_bag_has_both_and_repeats_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The controller is given what the encoder has; the bag's motion is the true one."""
    monkeypatch.chdir(tmp_path)
    words = ["--transport", "direct", "--set", "duration=0.8", "--json"]
    faults = ["--fault", "elbow2=drifting:0.1@0.3", "--fault", "turret=weak:0.7@0.2"]
    assert accord(["run", "packbot", "reach", *words, *faults, "--out", "a"]) == 0
    first = json.loads(capsys.readouterr().out)
    motion = read_run(tmp_path / "a" / "bag").trajectory
    assert motion.sha256() == first["trajectory_sha256"]
    detected = pytest.importorskip("roboaccord_studies.packbot.detection.detected")
    q, qd = detected.measured(motion)
    k = motion.joints.index("elbow2")
    away = 0.1 * np.maximum(motion.time - 0.3, 0.0)
    np.testing.assert_allclose(q[:, k] - motion.q[:, k], away, atol=1e-12)
    np.testing.assert_allclose(qd[:, k] - motion.qd[:, k], 0.1 * (away > 1e-9), atol=1e-12)
    again = ["run", "packbot", "reach", *words, "--inputs", "a/bag", "--out", "b"]
    assert accord(again) == 0
    assert json.loads(capsys.readouterr().out)["trajectory_sha256"] == first["trajectory_sha256"]


def test_a_controller_is_given_what_encoders_have(wheel: Path) -> None:
    seen = list[float]()

    class Listener:
        def reset(self, seed: int) -> None: ...

        def update(self, state: RobotState, target: object) -> Command:
            seen.append(float(state.q[0]))
            return Command(np.ones(1))

    simulator = turning(wheel, "reference", "axle=stuck@0.05")
    start = RobotState(0.0, *np.zeros((3, 1)))
    motion = simulate(
        simulator=simulator, controller=Listener(), initial=start, duration=0.1,
        control_period=PERIOD,
    )  # fmt: skip
    assert seen[:6] == motion.q[:6, 0].tolist() and set(seen[6:]) == {float(motion.q[5, 0])}

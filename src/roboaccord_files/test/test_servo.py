"""Servos: closed forms against scipy, limits by brute force, planted differences in raw engines."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from math import factorial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from roboaccord.cli.main import run
from roboaccord.contract.errors import AccordError
from roboaccord.engines import spec
from roboaccord_files.servo.identify import Found, identify, proposal
from roboaccord_files.servo.linear import (
    SCHEMES,
    Joint,
    Servo,
    damping_ratio,
    effort_of,
    limit_of,
    poles_of,
    settling,
)

ARM = str(Path(__file__).parents[3] / "examples/own_log/arm.urdf")
JOINT = Joint(inertia=0.3, damping=0.2, step=1e-3, steps=4)
SERVO = Servo(kp=30.0, kd=4.2)
PERIOD = JOINT.step * JOINT.steps
TARGETS = 0.1 * np.array([1.0] * 60 + [0.3] * 60 + [*np.linspace(0.0, 2.0, 60)])


def slope(_time: float, x: Any, effort: float, kp: float, kd: float) -> list[float]:
    """Return rate and acceleration of JOINT under an effort and a spring with a damper."""
    return [x[1], (effort - kp * x[0] - (kd + JOINT.damping) * x[1]) / JOINT.inertia]


def integrated(servo: Servo) -> np.ndarray:
    """Return the response to TARGETS by scipy, one tick after the other."""
    solve_ivp = pytest.importorskip("scipy.integrate").solve_ivp
    x, out, waiting = np.zeros(2), [0.0], [0.0] * servo.delay
    for target in TARGETS:
        is_own = servo.mode == "own"
        waiting.append(target if is_own else servo.kp * (target - x[0]) - servo.kd * x[1])
        late = waiting.pop(0)
        args = (late * servo.kp, servo.kp, servo.kd) if is_own else (late, 0.0, 0.0)
        x = solve_ivp(slope, (0.0, PERIOD), x, "DOP853", args=args, rtol=1e-12, atol=1e-14).y[:, -1]
        out.append(x[0])
    return np.array(out)


@pytest.mark.parametrize("mode", ["own", "explicit"])
@pytest.mark.parametrize("delay", [0, 2])
def test_the_exact_response_is_that_of_scipy(mode: str, delay: int) -> None:
    """Tolerance: 100 times that of scipy, over 180 ticks."""
    servo = replace(SERVO, mode=mode, delay=delay)
    np.testing.assert_allclose(JOINT.respond(servo, TARGETS), integrated(servo), atol=1e-11)


@pytest.mark.parametrize("damping", [0.0, 1e-6, 1e-3, 5.0])
def test_a_joint_without_spring_has_its_closed_form(damping: float) -> None:
    """After 1 s under an effort of 1: the power series of the closed form, in fractions."""
    rows, _, effort = replace(JOINT, damping=damping, steps=1000).tick(SERVO, "exact")
    decay = Fraction(-damping) / Fraction(JOINT.inertia)
    terms = [decay**k / factorial(k + 2) for k in range(80)]
    assert effort[0] == pytest.approx(float(sum(terms)) / JOINT.inertia, rel=1e-10)
    rates = [decay**k / factorial(k + 1) for k in range(80)]
    assert [rows[0, 1], effort[1]] == pytest.approx(
        [float(sum(rates)), float(sum(rates)) / JOINT.inertia], rel=1e-10
    )


def grows(joint: Joint, servo: Servo, scheme: str) -> bool:
    """Return whether a push grows in a long run of ticks, by multiplication alone."""
    rows, inputs, _ = joint.tick(servo, scheme)
    x, waiting, sizes = np.array([1.0, 0.0]), [0.0] * servo.delay, list[float]()
    for _ in range(6_000):
        waiting.append(0.0 if servo.mode == "own" else effort_of(-x[0], x[1], servo.numbers))
        x = rows @ x + inputs * waiting.pop(0)
        sizes.append(float(abs(x[0])))
        if not 1e-200 < sizes[-1] < 1e200 and len(sizes) > 10:
            break
    tenth = len(sizes) // 10
    return max(sizes[-tenth:]) > max(sizes[:tenth])


@pytest.mark.parametrize(
    ("mode", "scheme"),
    [("own", "euler"), ("own", "damped"), ("explicit", "exact"), ("explicit", "euler")],
)
@pytest.mark.parametrize("delay", [0, 1, 3])
def test_the_limit_of_stability_is_that_of_brute_force(mode: str, scheme: str, delay: int) -> None:
    """A push grows 1 % above the limit, and does not 1 % below."""
    servo = replace(SERVO, mode=mode, delay=delay)
    limit = JOINT.unstable_above(servo, scheme)
    assert limit is not None
    assert grows(JOINT, servo.stiffer(1.01 * limit / servo.kp), scheme)
    assert not grows(JOINT, servo.stiffer(0.99 * limit / servo.kp), scheme)


def test_implicit_damping_has_its_limit_by_jury_and_implicit_springs_have_none() -> None:
    """With x = h w, x^2 < 4 + 4 zeta x, where the damping is at the end of the step."""
    joint, servo = Joint(0.3, 0.0, 1e-3), Servo(30.0, 4.2, "own")
    zeta = 4.2 / (2.0 * (30.0 * 0.3) ** 0.5)
    x = 2.0 * (zeta + (zeta**2 + 1.0) ** 0.5)
    assert joint.unstable_above(servo, "damped") == pytest.approx(0.3 * (x / 1e-3) ** 2, rel=1e-9)
    assert joint.unstable_above(servo, "implicit") is None
    assert joint.unstable_above(servo, "exact") is None


def test_limits_of_effort_and_velocity() -> None:
    """What brakes has the whole limit; on a line what accelerates falls to 0 at the velocity."""
    servo = Servo(100.0, 0.0, "limited", effort=5.0, velocity=2.0)
    line = replace(servo, mode="line")
    assert [effort_of(1.0, v, servo.numbers) for v in (0.0, 1.9, 2.0, -3.0)] == [5.0, 5.0, 0.0, 5.0]
    assert [effort_of(1.0, v, line.numbers) for v in (0.0, 0.5, 2.5, -3.0)] == [5.0, 3.75, 0.0, 5.0]
    free = replace(servo, mode="explicit")
    assert effort_of(1.0, 3.0, free.numbers) == 100.0


def test_measures_of_a_second_order_response() -> None:
    """Overshoot exp(-pi zeta / sqrt(1 - zeta^2)); poles and damping ratio by Prony's method."""
    joint, servo = Joint(1.0, 0.0, 1e-3), Servo(100.0, 8.0, "own")
    response = joint.respond(servo, np.ones(2000))
    assert response.max() - 1.0 == pytest.approx(np.exp(-np.pi * 0.4 / 0.84**0.5), rel=1e-4)
    poles = poles_of(response[::50] - 1.0, 2)
    assert damping_ratio(poles) == pytest.approx(0.4, rel=1e-6)
    after = settling(response, 1.0)
    assert after and np.abs(response[after:] - 1.0).max() <= 0.02 < abs(response[after - 1] - 1.0)
    assert limit_of(lambda factor: factor > 123.4, 130.0, 1.001) == pytest.approx(123.4, rel=1e-3)


XML = """<mujoco><option timestep="0.001" integrator="{integrator}" gravity="0 0 {g}"/>
<worldbody><body><joint axis="0 -1 0" armature="{armature}"/>
<geom type="box" size=".2 .01 .01" pos=".2 0 0" mass="1"/></body></worldbody>
<actuator><position joint="" kp="{kp}" kv="{kd}" forcerange="-{effort} {effort}"/></actuator>
</mujoco>"""
ROTOR = 0.02
BAR = 1.0 / 3.0 * (0.2**2 + 0.01**2) + 0.2**2  # kg m^2: about the hinge, of 1 kg
BARS = Joint(BAR + ROTOR, 0.0, 1e-3, 4)
INTENDED = Servo(BARS.inertia * 100.0, BARS.inertia * 14.0, "own")


def in_mujoco(
    *, armature: float = ROTOR, kp: float = 1.0, explicit: bool = False, delay: int = 0,
    gravity: float = 0.0, target: float = 0.1, ticks: int = 300, effort: float = 1e9,
) -> np.ndarray:  # fmt: skip
    """Return the response of a bar with MuJoCo's own calls; kp is relative."""
    mujoco = pytest.importorskip("mujoco")
    gains = {"kp": 0.0, "kd": 0.0} if explicit else {"kp": kp * INTENDED.kp, "kd": INTENDED.kd}
    text = XML.format(
        integrator="implicitfast", g=-gravity, armature=armature, effort=effort, **gains
    )
    model = mujoco.MjModel.from_xml_string(text.replace('joint=""', 'joint="h"').replace(
        "<joint axis", '<joint name="h" axis'))  # fmt: skip
    data, out, waiting = mujoco.MjData(model), [0.0], [0.0] * delay
    for _ in range(ticks):
        q, v = data.qpos[0], data.qvel[0]
        waiting.append(INTENDED.kp * (target - q) - INTENDED.kd * v if explicit else target)
        if explicit:
            data.qfrc_applied[0] = waiting.pop(0)
        else:
            data.ctrl[0] = waiting.pop(0)
        mujoco.mj_step(model, data, 4)
        out.append(float(data.qpos[0]))
    return np.array(out)


def named(
    response: np.ndarray,
    engine: str,
    kp: float | None = None,
    servo: Servo = INTENDED,
    step: float = 0.1,
) -> dict[str, Any]:
    """Return what differs from the intended servo of the bar."""
    return identify(response, step, BARS, servo, engine, kp).differences()


def test_planted_differences_are_named_and_sized_in_mujoco() -> None:
    """From the responses of MuJoCo alone: what differs, and by how much."""
    scheme = {"mode": "implicit damping"}
    assert named(in_mujoco(), "mujoco") == scheme
    assert named(in_mujoco(explicit=True), "mujoco") == {"mode": "explicit, held over a tick"}
    assert named(in_mujoco(delay=1), "mujoco") == scheme | {"delay": 1.0}
    late = {"mode": "explicit, held over a tick", "delay": 2.0}
    assert named(in_mujoco(explicit=True, delay=2), "mujoco") == late
    without = named(in_mujoco(armature=0.0), "mujoco")
    assert without == scheme | {"armature": pytest.approx(-ROTOR, rel=1e-9)}
    stiffer = named(in_mujoco(kp=1.05), "mujoco")
    assert stiffer == scheme | {"kp": pytest.approx(0.05 * INTENDED.kp, rel=1e-9)}


FAR = 0.5  # rad; a step in which the servo comes to its limits
BOUND = replace(INTENDED, effort=1.0, velocity=0.6)  # of 3.7 N m and 2 rad/s without limits


@pytest.mark.slow
def test_planted_limits_of_effort_are_named_and_sized_in_mujoco() -> None:
    """Kept, left out, and another one; also beside a lighter rotor and a tick of delay."""
    scheme, bound = {"mode": "implicit damping"}, replace(BOUND, velocity=INTENDED.velocity)
    kept = in_mujoco(effort=1.0, target=FAR)
    assert named(kept, "mujoco", servo=bound, step=FAR) == scheme
    planted = scheme | {"effort limit": pytest.approx(1.0, rel=1e-9)}
    assert named(kept, "mujoco", step=FAR) == planted
    left_out = scheme | {"ignores": "effort limit"}
    assert named(in_mujoco(target=FAR), "mujoco", servo=bound, step=FAR) == left_out
    both = in_mujoco(effort=1.0, target=FAR, armature=0.0, delay=1)
    assert named(both, "mujoco", servo=bound, step=FAR) == scheme | {
        "delay": 1.0,
        "armature": pytest.approx(-ROTOR, rel=1e-9),
    }
    explicit = named(in_mujoco(explicit=True, target=FAR), "mujoco", servo=bound, step=FAR)
    assert explicit == {"mode": "explicit, held over a tick", "ignores": "effort limit"}


def test_the_droop_tells_a_rotor_from_gains() -> None:
    """Both gains wrong by a factor answer to a step as a lighter rotor does, not to a weight."""
    held = in_mujoco(armature=0.0, kp=1.1, gravity=9.81, target=0.0, ticks=600)[-1]
    kp = -9.81 * 0.2 * np.cos(held) / held
    both = named(in_mujoco(armature=0.0, kp=1.1), "mujoco", kp)
    assert both["armature"] == pytest.approx(-ROTOR, rel=2e-3)
    assert both["kp"] == pytest.approx(0.1 * INTENDED.kp, rel=2e-3)
    assert {*both} == {"mode", "armature", "kp"}


def in_dart(
    *, rotor: bool, delay: int = 0, explicit: bool = False, target: float = 0.1,
    effort: float = np.inf, velocity: float = np.inf,
) -> np.ndarray:  # fmt: skip
    """Return the response of the bar, heavier by its rotor, with DART's own calls."""
    dartpy = pytest.importorskip("dartpy")
    skeleton = dartpy.dynamics.Skeleton("bar")
    joint, body = skeleton.createRevoluteJointAndBodyNodePair()
    joint.setAxis([0.0, -1.0, 0.0])
    inertia = np.diag([1e-3, BAR - 0.2**2 + (ROTOR if rotor else 0.0), 1e-3])
    body.setInertia(dartpy.dynamics.Inertia(1.0, [0.2, 0.0, 0.0], inertia))
    world = dartpy.simulation.World()
    world.setGravity([0.0, 0.0, 0.0])
    world.setTimeStep(1e-3)
    world.addSkeleton(skeleton)
    degree = skeleton.getDof(0)
    joint.setLimitEnforcement(True)
    degree.setForceLimits(-effort, effort)
    degree.setVelocityLimits(-velocity, velocity)
    if not explicit:
        degree.setSpringStiffness(INTENDED.kp)
        degree.setDampingCoefficient(INTENDED.kd)
    out, waiting = [0.0], [0.0] * delay
    for _ in range(300):
        q, v = degree.getPosition(), degree.getVelocity()
        waiting.append(INTENDED.kp * (target - q) - INTENDED.kd * v if explicit else target)
        late = waiting.pop(0)
        for _ in range(4):
            if explicit:
                degree.setForce(late)
            else:
                degree.setRestPosition(late)
            world.step()
        out.append(float(degree.getPosition()))
    return np.array(out)


def test_planted_differences_are_named_and_sized_in_dart() -> None:
    assert named(in_dart(rotor=True), "dart") == {"mode": "implicit"}
    late = named(in_dart(rotor=False, delay=1), "dart")
    assert late == {"mode": "implicit", "delay": 1.0, "armature": pytest.approx(-ROTOR, rel=1e-9)}
    held = named(
        in_dart(rotor=True, explicit=True), "dart", servo=replace(INTENDED, mode="explicit")
    )
    assert held == {}


def test_dart_keeps_limits_of_velocity_and_ignores_those_of_effort() -> None:
    """The spring of a joint is no actuator; a planted limit of velocity is sized."""
    response = in_dart(rotor=True, target=FAR, effort=1.0, velocity=0.6)
    effort = {"mode": "implicit", "ignores": "effort limit"}
    assert named(response, "dart", servo=BOUND, step=FAR) == effort
    planted = {"mode": "implicit", "velocity limit": pytest.approx(0.6, rel=1e-9)}
    assert named(response, "dart", step=FAR) == planted
    response = in_dart(rotor=True, target=FAR, effort=1.0)
    both = {"mode": "implicit", "ignores": "effort limit and velocity limit"}
    assert named(response, "dart", servo=BOUND, step=FAR) == both


def in_sapien(
    *, armature: float = ROTOR, explicit: bool = False, delay: int = 0,
    effort: float = 3e38, velocity: float = 3e38,
) -> np.ndarray:  # fmt: skip
    """Return the response of the bar with calls of SAPIEN's own, by PhysX with TGS."""
    sapien = pytest.importorskip("sapien")
    config = sapien.physx.PhysxSceneConfig()
    config.gravity, config.enable_tgs = [0.0, 0.0, 0.0], True
    sapien.physx.set_scene_config(config)
    system = sapien.physx.PhysxCpuSystem()
    system.timestep = 1e-3
    builder = sapien.Scene([system]).create_articulation_builder()
    root, pose = builder.create_link_builder(), sapien.Pose()
    root.set_mass_and_inertia(1.0, pose, [1.0, 1.0, 1.0])
    root.set_joint_properties("fixed", [], pose, pose)
    bar = builder.create_link_builder(root)
    bar.set_mass_and_inertia(1.0, sapien.Pose([0.0, 0.2, 0.0]), [BAR - 0.2**2, 1e-2, 1e-2])
    bar.set_joint_properties("revolute", [[-np.inf, np.inf]], pose, pose)
    body = builder.build(fix_root_link=True)
    for link in body.links:
        link.set_angular_damping(0.0)
        link.set_linear_damping(0.0)
    (joint,) = body.active_joints
    joint.set_armature([armature])
    joint.set_friction(0.0)
    joint.set_max_velocity(velocity)
    body.set_solver_position_iterations(10)
    if not explicit:
        joint.set_drive_property(INTENDED.kp, INTENDED.kd, effort)
    out, waiting = [0.0], [0.0] * delay
    for _ in range(150):
        q, v = body.qpos[0], body.qvel[0]
        waiting.append(INTENDED.kp * (FAR - q) - INTENDED.kd * v if explicit else FAR)
        late = waiting.pop(0)
        for _ in range(4):
            if explicit:
                body.set_qf([late])
            else:
                joint.set_drive_target(late)
            system.step()
        out.append(float(body.qpos[0]))
    return np.array(out)


@pytest.mark.slow
def test_planted_differences_are_named_and_sized_in_sapien() -> None:
    """In single precision sizes have five digits, and a limit of velocity four."""
    scheme, effort = {"mode": "implicit in 10 substeps"}, replace(INTENDED, effort=1.0)

    def told(response: np.ndarray, servo: Servo = INTENDED) -> dict[str, Any]:
        return named(response, "sapien", servo=servo, step=FAR)

    assert told(in_sapien()) == scheme
    assert told(in_sapien(effort=1.0), effort) == scheme
    assert told(in_sapien(effort=0.5), effort) == scheme | {
        "effort limit": pytest.approx(0.5, rel=1e-5)
    }
    assert told(in_sapien(effort=1.0, velocity=0.6), BOUND) == scheme
    assert told(in_sapien(velocity=0.6)) == scheme | {
        "velocity limit": pytest.approx(0.6, rel=1e-3)
    }
    assert told(in_sapien(armature=0.0, delay=1)) == scheme | {
        "delay": 1.0,
        "armature": pytest.approx(-ROTOR, rel=1e-4),
    }
    held = {"mode": "explicit, held over a tick", "delay": 1.0}
    assert told(in_sapien(explicit=True, delay=1)) == held


def test_a_rotor_makes_up_for_a_larger_limit_of_effort() -> None:
    """At half the limit a joint accelerates as at the whole one with twice the inertia."""
    half, whole = (in_mujoco(effort=effort, target=FAR) for effort in (0.5, 1.0))
    weak, strong = (identify(curve, FAR, BARS, INTENDED, "mujoco") for curve in (half, whole))
    servo, armature = proposal(half, FAR, weak, strong)
    assert armature == pytest.approx(BARS.inertia, rel=1e-6)
    assert (servo.kp, servo.kd) == pytest.approx((2.0 * INTENDED.kp, 2.0 * INTENDED.kd))
    assert proposal(whole, FAR, strong, weak, lowest=0.0)[1] >= 0.0


def test_one_engine_answers_as_another_after_its_match() -> None:
    """DART's implicit spring answers as MuJoCo's damping, with other gains, to round-off."""

    def found(response: np.ndarray, engine: str = "mujoco") -> Found:
        return identify(response, 0.1, BARS, INTENDED, engine)

    mujoco, dart = in_mujoco(), in_dart(rotor=True)
    servo, armature = proposal(mujoco, 0.1, found(mujoco), found(dart, "dart"))
    assert armature == 0.0
    np.testing.assert_allclose(
        BARS.respond(servo, np.full(300, 0.1), "implicit"), mujoco, atol=1e-12
    )
    servo, armature = proposal(mujoco, 0.1, found(mujoco), found(in_mujoco(armature=0.0)))
    assert armature == pytest.approx(ROTOR)
    assert (servo.kp, servo.kd) == pytest.approx((INTENDED.kp, INTENDED.kd))


def command(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """Return exit status, output and messages of `accord servo`."""
    status = run(["servo", *words])
    return status, *capsys.readouterr()


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The result of the elbow in both engines of the core, as JSON."""
    from contextlib import redirect_stdout
    from io import StringIO

    out = StringIO()
    with redirect_stdout(out):
        words = (
            "--engines mujoco,dart --joint elbow --armature 0.01 --set physics_step=0.002 --json"
        )
        folder = str(tmp_path_factory.mktemp("servo") / "out")
        assert run(["servo", ARM, *words.split(), "--out", folder]) == 0
    return dict(json.loads(out.getvalue()))


def test_the_json_has_the_keys_of_its_documentation(result: dict[str, Any]) -> None:
    keys = "name engine mode gains delay armature overshoot settling steady_error damping_ratio"
    assert {*result["joints"][0]} == {*keys.split(), "unstable_above"}
    assert {*result["match"][0]} == {"from", "to", "gains", "error_before", "error_after"}
    assert [Path(file).name for file in result["files"]] == ["elbow.svg"]
    assert all(Path(file).is_file() for file in result["files"])


def test_engines_answer_as_the_closed_form_and_match(result: dict[str, Any]) -> None:
    """MuJoCo with Runge-Kutta to round-off; own servos by the first order of their steps."""
    shown = {(row["engine"], row["mode"]): row for row in result["shown"]}
    rows = {(row["engine"], row["mode"]): row for row in result["joints"]}
    assert shown["mujoco", "explicit"]["error"] < 1e-10
    assert shown["mujoco", "own"]["differences"] == {"mode": "implicit damping"}
    assert shown["dart", "own"]["differences"] == {"mode": "implicit"}
    assert shown["dart", "explicit"]["differences"] == {}
    for mode in ("own", "explicit"):
        exact = rows["exact", mode]
        for engine in ("mujoco", "dart"):
            row = rows[engine, mode]
            assert shown[engine, mode]["error"] < 5e-3
            assert row["damping_ratio"] == pytest.approx(exact["damping_ratio"], rel=0.01)
            assert row["steady_error"] == pytest.approx(exact["steady_error"], rel=2e-3)
    limits = [rows[engine, "explicit"]["unstable_above"] for engine in ("exact", "mujoco")]
    assert limits[1] == pytest.approx(limits[0], rel=0.01)
    match = {pair["to"]: pair for pair in result["match"]}
    assert match["dart own"]["error_before"] > 1e-3
    assert match["dart own"]["error_after"] < 1e-12
    # DART with efforts that are held answers less well than with its own servo.
    assert match["dart explicit"]["mode"] == "own" and "mode" not in match["dart own"]
    assert match["dart explicit"]["error_after"] == match["dart own"]["error_after"]


def test_limits_of_the_file_act_on_own_servos(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """MuJoCo keeps that of the effort, and DART that of the velocity."""
    text = Path(ARM).read_text(encoding="utf-8")
    damping, limit = '<dynamics damping="0.03"/>', '<limit effort="0.5" velocity="2"/>'
    (tmp_path / "arm.urdf").write_text(text.replace(damping, limit + damping), encoding="utf-8")
    words = "--engines mujoco,dart --joint elbow --mode own --step 1 --set physics_step=0.002"
    files = str(tmp_path / "arm.urdf"), "--out", str(tmp_path / "out")
    status, out, _ = command(capsys, *files, *words.split(), "--json")
    shown = {row["engine"]: row["differences"] for row in json.loads(out)["shown"]}
    assert status == 0
    assert shown["mujoco"]["ignores"] == "velocity limit"
    assert shown["dart"]["ignores"] == "effort limit"


def test_bad_input_is_refused_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    for words, line in {
        ("snake",): "snake: name a robot's file",
        (ARM, "--joint", "elbo"): "unknown joint elbo; did you mean elbow?",
        (ARM, "--mode", "implicit"): "unknown mode implicit",
        (ARM, "--engines", "mujoco", "--as", "dart"): "unknown word of --as: dart",
        (ARM, "--base", "free"): "--base planar and free are for --free",
        (ARM, "--set", "physics_step=0.003"): "control",
    }.items():
        status, out, err = command(capsys, *words)
        assert status == 2 and not out and line in err, err
        assert err.count("\n") == 1


@pytest.mark.slow
def test_the_free_robot_answers_as_the_reference(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Both joints under their servos, with a rotor: MuJoCo's Runge-Kutta is our equations."""
    words = f"--engines mujoco --mode explicit,own --free --armature 0.02 --out {tmp_path / 'a'}"
    status, out, _ = command(capsys, ARM, *words.split(), "--json")
    data = json.loads(out)
    assert status == 0 and data["match"] == []
    errors = {(row["engine"], row["mode"], row["name"]): row["error"] for row in data["shown"]}
    for joint in ("shoulder", "elbow"):
        assert errors["reference", "own", joint] == 0.0
        assert errors["mujoco", "explicit", joint] < 1e-9
        assert 1e-5 < errors["mujoco", "own", joint] < 2e-3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("engine", "scheme"),
    [("drake", "implicit"), ("sapien", "implicit in 10 substeps"), ("mjwarp", "implicit damping"),
     ("newton", "explicit in each physics step")],
)  # fmt: skip
def test_engines_of_packages_have_their_own_servos(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, engine: str, scheme: str
) -> None:
    """Each answers by its scheme, within single precision."""
    try:
        spec(engine).load(spec(engine).version)
    except AccordError as error:
        pytest.skip(str(error))
    words = f"--engines {engine} --mode own --joint shoulder --set physics_step=0.002 --json"
    status, out, _ = command(capsys, ARM, *words.split(), "--out", str(tmp_path / "out"))
    shown = {row["engine"]: row for row in json.loads(out)["shown"]}
    assert status == 0
    assert shown[engine]["differences"] == {"mode": scheme}
    assert 1e-5 < shown[engine]["error"] < 5e-3


def test_every_scheme_tends_to_the_exact_response() -> None:
    """Of first order: a tenth of the step has about a tenth of the error."""
    for scheme in SCHEMES["own"][1:]:
        servo = replace(SERVO, mode="own")
        errors = []
        for parts in (1, 10):
            joint = replace(JOINT, step=JOINT.step / parts, steps=JOINT.steps * parts)
            errors.append(
                np.abs(joint.respond(servo, TARGETS, scheme) - joint.respond(servo, TARGETS)).max()
            )
        assert errors[1] < 0.2 * errors[0]

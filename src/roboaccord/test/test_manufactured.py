"""Manufactured motions: orders by theory, what is left by an independent computation, and names."""

from dataclasses import replace

import numpy as np
import pytest
from chosen_motion import ChosenMotion, InverseDynamics
from manufactured import check_manufactured, models_of
from roboaccord.description.tree import Tree
from roboaccord.engines import engine_names, spec
from roboaccord.falsify import parse_perturbation, wrap
from roboaccord.numerics.rotations import rotation_vector
from roboaccord.scenario.files import make_scenario
from roboaccord.scenario.setup import Setup
from scipy.integrate import solve_ivp

BRIEF = {"duration": 0.1, "physics_step": 2e-3, "control_period": 2e-3}
G, MASS, LENGTH, INERTIA = 9.81, 2.0, 0.4, 0.03
BODY = (
    '<link name="{name}"><inertial><origin xyz="{centre}"/><mass value="{mass}"/>'
    '<inertia ixx="{i}" iyy="{i}" izz="{i}" ixy="0" ixz="0" iyz="0"/></inertial></link>'
)
JOINT = (
    '<joint name="j{n}" type="{kind}"><parent link="{parent}"/><child link="l{n}"/>'
    '<origin xyz="{origin}" rpy="0.1 0 0.2"/><axis xyz="{axis}"/>{limit}'
    '<dynamics damping="{damping}" friction="{dry}"/></joint>'
)
PENDULUM = (
    '<robot name="pendulum"><link name="base_link"/>'
    + BODY.format(name="l1", centre=f"0 0 -{LENGTH}", mass=MASS, i=INERTIA)
    + '<joint name="j1" type="continuous"><parent link="base_link"/><child link="l1"/>'
    '<axis xyz="0 1 0"/><dynamics damping="{damping}"/></joint></robot>'
)


def chain(damping=0.0, dry=0.0):
    """Return a chain of four links, its third joint a slide, its last with limits."""
    text = BODY.format(name="base_link", centre="0 0 0", mass=2.0, i=0.05)
    kinds = ("continuous", "continuous", "prismatic", "revolute")
    for n, kind in enumerate(kinds, 1):
        text += BODY.format(name=f"l{n}", centre="0.05 0.02 -0.15", mass=1.0, i=0.01)
        limit = (
            ""
            if kind == "continuous"
            else '<limit lower="-0.1" upper="0.25" effort="0" velocity="1"/>'
        )
        text += JOINT.format(
            n=n, kind=kind, parent=f"l{n - 1}" if n > 1 else "base_link", origin="0 0 -0.3",
            axis="0 1 0" if n % 2 else "1 0 0", limit=limit, damping=damping, dry=dry,
        )  # fmt: skip
    return f'<robot name="chain">{text}</robot>'


def setup_of(folder, text, **more):
    path = folder / "robot.urdf"
    path.write_text(text, encoding="utf-8")
    return Setup.of(make_scenario({"robot": str(path), **BRIEF, **more}))


def check(setup, engine, *errors, refine=3):
    """Return what is found of the only model in an engine with deliberate errors."""
    items = [parse_perturbation(f"{engine}:{error}") for error in errors]
    made = wrap(engine, perturbations=items) if items else engine
    (found,) = check_manufactured(setup, [made], refine=refine).models
    return found


@pytest.mark.parametrize(("integrator", "order"), [("euler", 1), ("implicitfast", 1), ("rk4", 2)])
@pytest.mark.parametrize("base", ["fixed", "free"])
def test_errors_fall_by_the_order_of_the_scheme(tmp_path, integrator, order, base):
    """Semi-implicit Euler has order 1; RK4 under forces that are held at mid-step has 2."""
    options, steps = (
        {"mujoco": {"integrator": integrator}},
        {"duration": 0.05, "physics_step": 5e-4},
    )
    setup = setup_of(tmp_path, chain(), base=base, engine_options=options, **steps)
    found = check(setup, "mujoco")
    assert (found.outcome, found.reason, found.expected_order) == ("within", "", order)
    np.testing.assert_allclose(found.orders, order, atol=0.03)
    assert found.left <= found.bound < 1e-2 * found.error[-1]


@pytest.mark.parametrize("base", ["planar", "free"])
def test_every_engine_is_within_with_friction(tmp_path, base):
    """Dry friction keeps its direction on such a motion: its kink plays no part."""
    parameters = {"damping": 1.0, "dry_friction": 1.0}
    setup = setup_of(tmp_path, chain(0.2, 0.3), base=base, parameters=parameters)
    for engine in {"dart", "mujoco", "drake"} & {*engine_names()}:
        found = check(setup, engine)
        assert found.outcome == "within", found.reason


@pytest.mark.parametrize(("engine", "order", "rtol"), [("mujoco", 2, 1e-7), ("dart", 1, 1e-3)])
def test_what_a_heavy_link_leaves_is_what_its_equations_say(tmp_path, engine, order, rtol):
    """A pendulum with 10 % more mass, under the forces of the right one, by DOP853.

    I' q'' + m' g l sin q = I (q*'' - 2 w e' - w^2 e) + m g l sin q,    e = q - q*,    w = 10 rad/s
    """
    setup = setup_of(tmp_path, PENDULUM.format(damping=0), duration=0.2)
    found = check(setup, engine, "mass:l1=1.1")
    (model,) = models_of(setup, spec(engine))
    motion = ChosenMotion(model, Tree.parse(model.urdf), setup.initial, setup.joints, 0.2)
    own, wrong = INERTIA + MASS * LENGTH**2, INERTIA + 1.1 * MASS * LENGTH**2

    def slope(time, y):
        at = motion.at(time)
        e, rate = y[0] - at.q[0], y[1] - at.qd[0]
        wanted = at.qdd[0] - 20.0 * rate - 100.0 * e
        lever = MASS * G * LENGTH * np.sin(y[0])
        return [y[1], (own * wanted - 0.1 * lever) / wrong]

    start, times = motion.at(0.0), np.arange(1, 101) * 2e-3
    exact = solve_ivp(
        slope, (0.0, 0.2), [start.q[0], start.qd[0]], "DOP853", times, rtol=1e-12, atol=1e-13
    )
    left = max(abs(q - motion.at(t).q[0]) for t, q in zip(times, exact.y[0], strict=True))
    assert found.outcome == "outside" and found.where == "j1" and found.left > 100 * found.bound
    coarse, fine = found.error[-2:]
    np.testing.assert_allclose((2**order * fine - coarse) / (2**order - 1), left, rtol=rtol)


@pytest.mark.parametrize(
    ("error", "joint", "alone"),
    [
        ("mass:l2=1.001", "j2", False),
        ("centre:l3=1e-3", "j3", False),
        ("inertia:l4=1.01", "j4", False),
        ("gear:j2=1.001", "j2", True),
        ("damping:j3=0.01", "j3", True),
        ("armature:j4=1e-4", "j4", True),
        ("friction:j1=1.01", "j1", True),
        ("mass:base_link=1.001", "base_link", False),
    ],
)
@pytest.mark.parametrize("engine", ["mujoco", pytest.param("dart", marks=pytest.mark.slow)])
def test_the_outermost_joint_that_lacks_a_force_is_named(tmp_path, engine, error, joint, alone):
    """A wrong link asks for forces at its joint and inwards, a wrong drive at its joint alone."""
    if engine == "dart" and "armature" in error:
        pytest.skip("DART has no armature")
    setup = setup_of(tmp_path, chain(0.0, 0.3), base="free", parameters={"dry_friction": 1.0})
    found = check(setup, engine, error)
    assert found.outcome == "outside" and found.missing == [joint]
    assert found.reason.endswith(
        f"missing at {joint} alone" if alone else f"missing out to {joint}"
    )


def drag(simulator):
    """Take a ten-thousandth of all rates in a second."""
    state = simulator.state()
    keep = 1.0 - 1e-4 * simulator.physics_step
    simulator.reset(replace(state, qd=keep * state.qd))


def test_what_no_model_has_is_left_too(tmp_path):
    """Rates that fall by themselves are no perturbation of a model, and no order of a scheme."""
    setup = setup_of(tmp_path, chain())
    (found,) = check_manufactured(setup, [wrap("mujoco", after_step=drag)], refine=3).models
    assert found.outcome == "outside"


def test_a_lower_order_is_outside_where_two_more_steps_confirm_it(tmp_path):
    """Forces that act a step late have an error of order 1: it vanishes, but not as RK4's does."""
    setup = setup_of(tmp_path, chain())
    three, four = (check(setup, "mujoco", "delay=1", refine=refine) for refine in (3, 4))
    assert three.outcome == "not_judged" and "halve the physics step" in three.reason
    assert four.outcome == "outside" and four.reason.endswith("has order 1.00, expected 2")
    assert check(setup, "mujoco", refine=4).outcome == "within"


def test_too_few_steps_and_stiff_friction_are_not_judged(tmp_path):
    """Explicit schemes fail for friction that slows a joint at a rate of more than 2 / h."""
    few = check(setup_of(tmp_path, chain()), "dart", refine=2)
    assert (few.outcome, few.reason) == ("not_judged", "3 physics steps are needed: --refine 3")
    damping = 2e4 * (INERTIA + MASS * LENGTH**2)  # a rate of 2e4 1/s
    text = PENDULUM.format(damping=damping)
    stiff = check(setup_of(tmp_path, text, parameters={"damping": 1.0}), "dart")
    assert stiff.outcome == "not_judged"
    assert stiff.reason.endswith("joint friction alone needs less than 0.0001 s")


@pytest.mark.parametrize("base", ["fixed", "planar", "free"])
def test_the_motion_is_that_of_its_rates_and_keeps_to_its_limits(tmp_path, base):
    """By central differences; the forces of inverse dynamics give its accelerations again."""
    setup = setup_of(tmp_path, chain(), base=base, parameters={"stops": 1.0})
    (model,) = models_of(setup, spec("mujoco"))
    tree, h = Tree.parse(model.urdf), 1e-5
    motion = ChosenMotion(model, tree, setup.initial, setup.joints, 0.5)
    inverse = InverseDynamics(model, tree)
    for time in np.linspace(0.0, 0.5, 6):
        before, now, after = (motion.at(time + dt) for dt in (-h, 0.0, h))
        spin = rotation_vector(after.rotation @ before.rotation.T) / (2 * h)
        moved = (after.position - before.position) / (2 * h)
        np.testing.assert_allclose(now.twist, [*moved, *spin], atol=1e-8)
        np.testing.assert_allclose(now.change, (after.twist - before.twist) / (2 * h), atol=1e-7)
        np.testing.assert_allclose(now.qd, (after.q - before.q) / (2 * h), atol=1e-8)
        np.testing.assert_allclose(now.qdd, (after.qd - before.qd) / (2 * h), atol=1e-7)
        assert np.all(np.abs(now.q[2:] - 0.075) < 0.175) and np.all(np.abs(now.qd) > 0.05)
        np.testing.assert_allclose(inverse.missing(now, inverse.inertial(now)), 0.0, atol=1e-11)


def test_the_snake_slides_under_its_law_and_the_monkeybot_hangs(tmp_path):
    """Force laws act; each of a robot's models has a motion of its own; contact is left out."""
    pytest.importorskip("snake")
    pytest.importorskip("monkeybot")
    law = {"law": "ellipse", "mu_along": 0.1, "mu_across": 1.0, "slip_speed": 0.01}
    snake = Setup.of(
        make_scenario({"robot": "snake", "friction": law, "base": "planar", "duration": 0.02})
    )
    assert check(snake, "mujoco").outcome == "within"
    wrong = check(snake, "mujoco", "friction_across=1.001")
    assert wrong.outcome == "outside" and wrong.left > 100 * wrong.bound
    monkeybot = Setup.of(make_scenario({"robot": "monkeybot", "base": "free", "duration": 0.02}))
    found = check_manufactured(monkeybot, ["mujoco"], refine=3)
    assert [model.model for model in found.models] == [
        "held at hand_a", "held at hand_b", "free base",
    ]  # fmt: skip
    assert found.verdict == "pass"

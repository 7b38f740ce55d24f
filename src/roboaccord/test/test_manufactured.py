"""Manufactured motions: engines follow an exact answer, with errors of the order of their scheme.

A motion is chosen, and inverse dynamics gives the forces that make it: the method of manufactured
solutions [Roache 1998]. They are held over each physics step h, which makes an error of order 2,
so schemes of a higher order show that one. With errors e(h) = e_0 + a h^p + ..., the differences
e(h) - e(h/2) give the order p whatever e_0 is, and extrapolation gives e_0: what is left at a step
of 0 is not time stepping.
"""

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pytest
from chosen_motion import ChosenMotion, Follower, InverseDynamics
from roboaccord.crosscheck.extrapolation import Remainder, remainder_over_time
from roboaccord.description.tree import Tree
from roboaccord.engines import engine_names, spec
from roboaccord.engines.base import engine_parts
from roboaccord.falsify import parse_perturbation, wrap
from roboaccord.numerics.rotations import rotation_vector
from roboaccord.run.loop import make_simulator
from roboaccord.scenario.files import make_scenario
from roboaccord.scenario.setup import Setup

BRIEF = {"duration": 0.1, "physics_step": 2e-3, "control_period": 2e-3}
HELD = 2  # order of the error that held forces make
BODY = (
    '<link name="{name}"><inertial><origin xyz="{centre}"/><mass value="{mass}"/>'
    '<inertia ixx="{i}" iyy="{i}" izz="{i}" ixy="0" ixz="0" iyz="0"/></inertial></link>'
)
JOINT = (
    '<joint name="j{n}" type="{kind}"><parent link="{parent}"/><child link="l{n}"/>'
    '<origin xyz="0 0 -0.3" rpy="0.1 0 0.2"/><axis xyz="{axis}"/>'
    '<limit lower="-0.1" upper="0.25" effort="0" velocity="1"/>'
    '<dynamics damping="{damping}" friction="{dry}"/></joint>'
)


def chain(damping=0.0, dry=0.0):
    """Return a chain of four links, its third joint a slide, its last with limits."""
    text = BODY.format(name="base_link", centre="0 0 0", mass=2.0, i=0.05)
    for n, kind in enumerate(("continuous", "continuous", "prismatic", "revolute"), 1):
        text += BODY.format(name=f"l{n}", centre="0.05 0.02 -0.15", mass=1.0, i=0.01)
        text += JOINT.format(
            n=n, kind=kind, parent=f"l{n - 1}" if n > 1 else "base_link",
            axis="0 1 0" if n % 2 else "1 0 0", damping=damping, dry=dry,
        )  # fmt: skip
    return f'<robot name="chain">{text}</robot>'


def setup_of(folder, text, **more):
    path = folder / "robot.urdf"
    path.write_text(text, encoding="utf-8")
    return Setup.of(make_scenario({"robot": str(path), **BRIEF, **more}))


def models_of(setup, engine):
    """Return the models of a robot in an engine as they are meant, without contact and limits."""
    return [
        replace(
            part.intended, contact=None, contact_events=False, faults=(),
            effort_limits=np.full(len(part.joints), np.inf),
        )
        for part in engine_parts(make_simulator(setup, engine))
    ]  # fmt: skip


@dataclass(frozen=True)
class Followed:
    """What an engine makes of the motion of a model: the scheme's order, and those observed."""

    expected: int
    orders: np.ndarray
    left: Remainder

    @property
    def is_within(self):
        """Whether time stepping explains all errors, at the order of the scheme."""
        sound = (self.orders > 0.9 * self.expected).all()
        return bool(sound and self.left.size <= self.left.bound)


def follow(setup, engine, model):
    """Let an engine follow the motion of a model at h, h/2 and h/4."""
    step = setup.scenario.physics_step
    follower, errors = Follower(setup, model, setup.scenario.duration), []
    for parts in (1, 2, 4):
        simulator = engine.complete(engine.simulate(replace(model, physics_step=step / parts)))
        errors.append(follower.follow(simulator)[parts - 1 :: parts])
    expected, floor = min(simulator.order, HELD), follower.floor()
    coarse, fine = (np.abs(a - b).max(axis=0) for a, b in pairwise(errors))
    counts = fine > np.maximum(10.0 * floor, 0.01 * coarse.max())  # others have no leading power
    orders = np.log2(coarse[counts] / fine[counts])
    return Followed(expected, orders, remainder_over_time(errors, expected, floor))


def check(setup, engine, error=""):
    """Return what is found of the only model in an engine, with a deliberate error or without."""
    items = [parse_perturbation(f"{engine}:{error}")] if error else []
    made = spec(wrap(engine, perturbations=items) if items else engine)
    (model,) = models_of(setup, made)
    return follow(setup, made, model)


@pytest.mark.parametrize(("integrator", "order"), [("euler", 1), ("implicitfast", 1), ("rk4", 2)])
@pytest.mark.parametrize("base", ["fixed", "free"])
def test_errors_fall_by_the_order_of_the_scheme(tmp_path, integrator, order, base):
    """Semi-implicit Euler has order 1; RK4 under forces that are held at mid-step has 2."""
    more = {"engine_options": {"mujoco": {"integrator": integrator}}, "physics_step": 5e-4}
    found = check(setup_of(tmp_path, chain(), base=base, **{**more, "duration": 0.05}), "mujoco")
    assert found.is_within and found.expected == order
    np.testing.assert_allclose(found.orders, order, atol=0.03)


@pytest.mark.slow
@pytest.mark.parametrize("base", ["planar", "free"])
def test_every_engine_is_within_with_friction_and_outside_with_an_error(tmp_path, base):
    """Dry friction keeps its direction on such a motion; 0.1 % of a mass or of an effort is left.

    Forces that act a step late have an error of order 1: it vanishes, but not as RK4's does.
    """
    parameters = {"damping": 1.0, "dry_friction": 1.0}
    setup = setup_of(tmp_path, chain(0.2, 0.3), base=base, parameters=parameters)
    for engine in {"dart", "mujoco", "drake"} & {*engine_names()}:
        assert check(setup, engine).is_within, engine
        for error in ("mass:l2=1.001", "gear:j2=1.001", "friction:j1=1.01"):
            found = check(setup, engine, error)
            assert found.left.size > found.left.bound, (engine, error)
    assert not check(setup, "mujoco", "delay=1").is_within


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


def test_the_snake_slides_under_its_law_and_the_monkeybot_hangs():
    """Force laws act; each of a robot's models has a motion of its own; contact is left out."""
    pytest.importorskip("snake")
    pytest.importorskip("monkeybot")
    law = {"law": "ellipse", "mu_along": 0.1, "mu_across": 1.0, "slip_speed": 0.01}
    snake = Setup.of(
        make_scenario({"robot": "snake", "friction": law, "base": "planar", "duration": 0.02})
    )
    assert check(snake, "mujoco").is_within
    wrong = check(snake, "mujoco", "friction_across=1.001")
    assert wrong.left.size > 100 * wrong.left.bound
    monkeybot = Setup.of(make_scenario({"robot": "monkeybot", "base": "free", "duration": 0.02}))
    models = models_of(monkeybot, spec("mujoco"))
    assert len(models) == 3  # held at either hand, and free
    assert all(follow(monkeybot, spec("mujoco"), model).is_within for model in models)

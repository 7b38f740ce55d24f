"""Mistakes in a description: a base that is not attached, a link that has no mass."""

import logging
from contextlib import suppress

import numpy as np
import pytest
from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Command, RobotState
from roboaccord.description import checks
from roboaccord.description.tree import Tree
from roboaccord.engines import Missing, names_for_models, simulate_model, spec
from roboaccord.engines.model import EngineModel

BODY = '<inertial><origin xyz="0 0 -0.5"/><mass value="1"/><inertia {}/></inertial>'.format(
    'ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"'
)
WORLD = '<link name="world"/><joint name="base_joint" type="{}">{}</joint>'
TIED = '<parent link="world"/><child link="base_link"/><axis xyz="0 0 1"/>'


def describe(world="", rod=BODY, more=""):
    """Return a pendulum, with what ties it to the world, its rod's inertial and more links."""
    return f"""<robot name="arm">{world}<link name="base_link">{BODY}</link>
      <link name="rod_link">{rod}</link>
      <joint name="pivot" type="continuous">
        <parent link="base_link"/><child link="rod_link"/><axis xyz="0 1 0"/>
      </joint>{more}</robot>"""


def simulate(urdf, engine, base="fixed"):
    """Return the angle of the pendulum 0.1 s after it was let go at 1 rad."""
    library = spec(engine).look()
    if isinstance(library, Missing):
        pytest.skip(library.reason)
    model = EngineModel(
        urdf=urdf, base=base, joints=("pivot",), effort_limits=np.ones(1), physics_step=1e-3,
        gravity=9.81,
    )  # fmt: skip
    simulator = simulate_model(model, engine)
    simulator.reset(RobotState(0.0, np.ones(1), np.zeros(1), np.zeros(1)))
    return simulator.step(Command(np.zeros(1)), 0.1).q[0]


@pytest.mark.parametrize("engine", names_for_models())
@pytest.mark.parametrize("world", ["", '<link name="world"/>', WORLD.format("planar", TIED)])
def test_a_fixed_base_that_hangs_on_nothing_is_refused(engine, world):
    """DART let it fall: the joint stayed at 1 rad, as nothing swings in free fall."""
    with pytest.raises(AccordError, match=r"arm: base is fixed, and no joint.* link world$"):
        simulate(describe(world), engine)


@pytest.mark.parametrize("engine", names_for_models())
def test_a_fixed_base_that_is_tied_swings_as_theory_says(engine):
    """At first the angle falls by m g c sin(1) / (I + m c^2) t^2 / 2, less in t^4."""
    expected = 1.0 - 0.5 * 0.1**2 * 9.81 * 0.5 * np.sin(1.0) / (0.1 + 0.25)
    assert simulate(describe(WORLD.format("fixed", TIED)), engine) == pytest.approx(
        expected, abs=1e-3
    )


def test_a_planar_base_needs_a_planar_joint():
    with pytest.raises(AccordError, match="base is planar, and no joint of type planar"):
        checks.check_world(describe(WORLD.format("fixed", TIED)), "planar")
    checks.check_world(describe(WORLD.format("planar", TIED)), "planar")
    checks.check_world(describe(), "free")


@pytest.mark.parametrize(
    ("rod", "more", "base", "found"),
    [
        (BODY, "", "free", []),
        ("", "", "fixed", ["rod_link"]),
        (BODY, '<link name="eye_link"/>{}', "fixed", []),  # a frame, fixed to what has a mass
        ("", f'<link name="eye_link">{BODY}</link>{{}}', "fixed", []),
    ],
)
def test_what_moves_without_mass_is_known(rod, more, base, found):
    """A link counts together with what is fixed to it; a base that is fixed does not move."""
    eye = '<joint name="eye" type="fixed"><parent link="rod_link"/><child link="eye_link"/></joint>'
    tree = Tree.parse(describe(rod=rod, more=more.format(eye)))
    assert checks.massless(tree, base) == found


def test_a_base_that_moves_without_mass_is_known():
    urdf = describe().replace(BODY, "", 1)
    assert checks.massless(Tree.parse(urdf), "free") == ["base_link"]
    assert checks.massless(Tree.parse(urdf), "fixed") == []


def test_a_link_without_mass_is_told_once(caplog):
    checks._warn.cache_clear()
    urdf = describe(WORLD.format("fixed", TIED), rod="")
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            with suppress(AccordError):  # MuJoCo refuses it
                simulate(urdf, "mujoco")
    assert caplog.messages == [
        "arm: link rod_link moves and has no <inertial>, so that it has no mass"
    ]

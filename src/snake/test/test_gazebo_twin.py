"""The twin of the snake on spheres in Gazebo, against a bag recorded there and against theory."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from roboaccord.bag.reader import read_run
from roboaccord.contract.errors import AccordError
from roboaccord.contract.sliding_friction import CFM, PyramidFriction
from roboaccord.contract.state import Command
from roboaccord.crosscheck.columns import largest_by_group
from roboaccord.crosscheck.measures.twin_comparison import compare_ticks
from roboaccord.crosscheck.recorded import check_bag
from roboaccord.description.dynamics import TreeDynamics
from roboaccord.description.kinematics import TreeKinematics
from roboaccord.engines.grip import ERP, Grip
from roboaccord.engines.spec import Footing
from roboaccord.engines.twin import twin_of
from roboaccord.gazebo.twin import gazebo_engine, gazebo_footing, misplaced
from roboaccord.run.loop import make_simulator
from roboaccord.scenario import Setup, load_scenario, make_scenario
from roboaccord.scenario.gazebo_contacts import by_contacts

BAG = Path(__file__).parent / "data" / "serpenoid_gz"  # of 7 links on slippery ground, 50 ticks
STEP = 0.001  # s


@pytest.fixture(scope="module")
def setup() -> Setup:
    """Return the scenario of the bag."""
    return Setup.of(make_scenario(read_run(BAG).scenario))


@pytest.mark.slow
def test_a_run_in_gazebo_is_its_twin_where_links_stick_and_where_they_slip() -> None:
    found = check_bag(read_run(BAG))
    assert found.levels.scheme["gz"].outcome == "within" and found.ok
    assert "friction across" in {each.parameter for each in found.resolution["gz"]}
    assert max(each.smallest for each in found.resolution["gz"] if each.unit == "1") < 1e-3


@pytest.mark.parametrize(
    ("key", "value", "name"),
    [
        ("friction", {"mu_across": 0.0202}, "friction across is -0.99 % off"),
        ("parameters", {"link_mass": 0.1515}, "mass of every link is -0.99 % off"),
    ],
)
@pytest.mark.slow
def test_what_gazebo_has_otherwise_is_named(key: str, value: dict[str, float], name: str) -> None:
    """The scenario states 1 % more than Gazebo was given."""
    run = read_run(BAG)
    scenario = {**run.scenario, key: {**run.scenario[key], **value}}
    found = check_bag(replace(run, scenario=scenario))
    scheme = found.levels.scheme["gz"]
    assert scheme.outcome == "outside"
    assert name in scheme.reason


def test_the_carriages_of_a_level_base_are_known_from_the_description(setup: Setup) -> None:
    """1 mg each, of which that of x carries those of y and z; and the run is not without them."""
    footing, run = gazebo_footing(setup, "spheres"), read_run(BAG).trajectory
    assert footing == Footing(0.050000001, (3e-6, 2e-6, 1e-6))
    law, ticks = by_contacts(setup, "spheres")[0], np.arange(len(run) - 1)
    bare = Footing(0.050000001, (0.0, 0.0, 0.0))
    with_them, without = (
        largest_by_group(np.abs(compare_ticks(twin, run, ticks)[1])).max(axis=0)
        for twin in (make_simulator(law, twin_of(gazebo_engine(f))) for f in (footing, bare))
    )
    assert (without[[1, 5]] > 1e3 * with_them[[1, 5]]).all()  # rates, of joints and of turning


def test_links_that_gazebo_misplaces_start_turned_by_less_than_a_milliradian() -> None:
    """Each link is built in a free joint, whose angle DART takes as its sine below 1e-3 rad.

    Angles of a chain of hinges add up; where all joints are at 0, no link is turned.
    """
    changes = ["initial.spread_q=0.001"]
    setup = Setup.of(load_scenario("snake", "snake", "serpenoid", changes))
    angles = np.abs(np.cumsum(setup.initial.q[::-1]))  # from the tail, which is the base
    cut = np.flatnonzero((angles > 1e-5) & (angles < 1e-3))
    assert 0 < len(cut) < 21
    expected = {f"segment_{21 - k:02d}_link" for k in cut}
    assert {*misplaced(setup, started=True)} == expected
    assert not misplaced(setup, started=False)
    with pytest.raises(AccordError, match="which starts turned by less than"):
        gazebo_footing(setup, "spheres", started=True)
    assert gazebo_footing(setup, "spheres")


def test_a_robot_sinks_until_its_depth_carries_its_weight(setup: Setup) -> None:
    """At rest p = m g h / c, and the depth gives back what CFM lets go, ERP d / h = CFM p / m.

    So d = CFM g h^2 / (c ERP), whatever the mass.
    """
    count, radius, mass, gravity = len(setup.joints) + 1, 0.05, 1.0, 9.81
    names = setup.tree.links
    law = PyramidFriction([k.name for k in names], np.zeros((1, 2)), 1.0, 0.1, 1.0, 0.0)
    kinematics = TreeKinematics(setup.tree, setup.joints)
    bodies = TreeDynamics(setup.tree, setup.joints, "planar", gravity)
    grip = Grip(Footing(radius, (0.0, 0.0, 0.5)), law, kinematics, bodies, np.zeros_like)
    height, speed = radius, 0.0
    for _ in range(3000):
        speed, impulses = grip.step_vertical(height, speed, mass, gravity, STEP)
        height += STEP * speed
    depth = CFM * gravity * STEP**2 / (count * ERP)
    assert radius - height == pytest.approx(depth, rel=1e-5)
    assert impulses.sum() == pytest.approx(1.5 * gravity * STEP, rel=1e-9)


def test_without_carriages_a_step_is_the_references(setup: Setup) -> None:
    """Two programs: absolute headings there, a tree of any shape here; at the depth at rest."""
    law = by_contacts(setup, "spheres")[0]
    count = len(setup.joints) + 1
    depth = CFM * 9.81 * STEP**2 / (count * ERP)
    rests = gazebo_engine(Footing(setup.initial.position[2] + depth, (0.0, 0.0, 0.0)))
    reference, twin = make_simulator(law), make_simulator(law, twin_of(rests))
    rng, n = np.random.default_rng(0), len(setup.joints)
    for _ in range(10):
        state = replace(
            setup.initial,
            q=rng.uniform(-0.3, 0.3, n),
            qd=rng.uniform(-0.1, 0.1, n),
            twist=np.array([*rng.uniform(-0.01, 0.01, 2), 0.0, 0.0, 0.0, rng.uniform(-0.1, 0.1)]),
        )
        ends = []
        for simulator in (reference, twin):
            simulator.reset(state)
            ends.append(simulator.step(Command(np.full(n, 0.02)), STEP))
        # depth is known to the rounding of the height, 7e-18 m, of which 1 / CFM makes forces
        assert np.abs(ends[0].qd - ends[1].qd).max() < 1e-7 * np.abs(ends[0].qd - state.qd).max()

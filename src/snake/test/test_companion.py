"""The reference as a second robot: how it follows a simulation, and what turns red."""

from itertools import pairwise

import numpy as np
import pytest
from roboaccord.bag.second_robot import Look, decode_looks
from roboaccord.crosscheck.cause import CauseFinder
from roboaccord.crosscheck.companion import HORIZON, Companion, largest_link_distance
from roboaccord.crosscheck.step_check import StepCheck
from roboaccord.description.materials import OPACITY, RED, SKIN
from roboaccord.description.scene import Scene
from roboaccord.falsify import parse_perturbation, wrap
from roboaccord.run.inputs import Hold
from roboaccord.run.loop import make_simulator, run_setup
from running import setup_of

PATIENCE = 60.0  # s of wall time


def followed(setup, run):
    """Yield a companion as it was before, and is after, each state of a run but the first."""
    companion = Companion(setup, setup, Hold())
    for i in range(1, len(run)):
        before = companion.apart, companion.anew, companion.opacity
        companion.advance(run.state(i))
        yield run.state(i), companion, before


def test_a_regular_motion_is_never_set_anew_and_parts_by_the_engines_time_stepping_alone():
    """DART's error is of the first order: half the physics step, half the distance."""
    pytest.importorskip("dartpy", reason="DART is not installed")
    most = []
    for step in (1e-3, 5e-4):
        setup = setup_of("snake", "serpenoid", "duration=0.3", f"physics_step={step}")
        run = run_setup(setup, make_simulator(setup, "dart"))
        *_, (_, companion, _) = followed(setup, run)
        assert companion.anew == 0 and companion.opacity == OPACITY
        most.append(largest_link_distance(setup.tree, setup.joints, run.state(-1), companion.state))
    assert most[0] / most[1] == pytest.approx(2.0, rel=0.2)
    assert most[0] < 5e-3


def test_a_chaotic_motion_is_followed_piece_by_piece():
    """The two copies are never further apart than the horizon; past it both begin anew."""
    pytest.importorskip("dartpy", reason="DART is not installed")
    setup = setup_of("snake", "lateral_undulation", "duration=0.45")
    run = run_setup(setup, make_simulator(setup, "dart"))
    faded = OPACITY
    for state, companion, (_, anew, opacity) in followed(setup, run):
        assert companion.apart < HORIZON
        faded = min(faded, opacity)
        if companion.anew > anew:
            np.testing.assert_allclose(companion.state.q, state.q, atol=1e-6)  # at a stop
            assert companion.apart == 0.0 and companion.opacity == OPACITY
    assert companion.anew >= 1 and faded < 0.5 * OPACITY


def cause_of(setup, engine, *perturbations, name=""):
    """Return the cause that is found of a run in an engine with errors, known by a name."""
    found = [parse_perturbation(text) for text in perturbations]
    simulator = make_simulator(setup, wrap(engine, perturbations=found))
    run = run_setup(setup, simulator)
    check = StepCheck(setup, name or engine, simulator.version)
    finder = CauseFinder(setup, name or engine, "direct", check)
    for before, after in pairwise(map(run.state, range(len(run)))):
        check.compare(before, after)
        finder.store_period(before, after)
    finder.search_at_end()
    finder.wait_for_cause(PATIENCE)
    return finder.cause


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["mujoco", "dart"])
def test_the_link_whose_mass_is_one_percent_off_is_named(engine):
    """At the shipped step, of which DART's own error is more."""
    pytest.importorskip({"dart": "dartpy"}.get(engine, engine))
    setup, link = setup_of("snake", "serpenoid", "duration=0.06"), "segment_11_link"
    cause = cause_of(setup, engine, f"{engine}:mass:{link}=1.01")
    assert (cause.link, cause.named) == (link, True)
    assert f"mass of {link} is +1 % off" in cause.line()
    assert f"outside since t = {cause.since:g} s" in cause.line() and "allowed" in cause.line()
    assert 0.0 < cause.since <= setup.scenario.duration


def test_a_sound_run_has_no_cause():
    pytest.importorskip("mujoco", reason="MuJoCo is not installed")
    assert cause_of(setup_of("snake", "serpenoid", "duration=0.05"), "mujoco") is None


def test_without_a_twin_the_link_behind_the_worst_joint_is_taken():
    """An effort that is too large at one joint shows there, of a simulator that nobody knows."""
    pytest.importorskip("mujoco", reason="MuJoCo is not installed")
    setup = setup_of("snake", "serpenoid", "duration=0.05")
    cause = cause_of(setup, "mujoco", "mujoco:gear:joint_08=1.2", name="somebody")
    (child,) = [joint.child for joint in setup.tree.joints if joint.name == "joint_08"]
    assert (cause.link, cause.named) == (child, False)


def test_a_look_is_told_by_a_message_and_by_the_colours_of_the_description():
    """Links and masses stay; visuals are larger by a skin, and the link that is off is red."""
    setup = setup_of("snake", "serpenoid")
    look = Look(1.25, 0.2, 3, "segment_11_link", 0.5, "segment_11_link: mass")
    assert decode_looks(look.encode("snake"), "snake") == [look]
    assert not decode_looks(look.encode("snake"), "packbot")
    plain, painted = setup.urdf(), look.paint(setup.urdf())
    ours, theirs = Scene.parse(plain), Scene.parse(painted)
    for one, other in zip(ours.shapes, theirs.shapes, strict=True):
        red = theirs.tree.links[other.link].name == look.link
        assert (tuple(other.colour) == RED) is red
        assert red or other.opacity == look.opacity
        np.testing.assert_allclose(np.ptp(other.vertices, 0), SKIN * np.ptp(one.vertices, 0))
    assert [link.mass for link in ours.tree.links] == [link.mass for link in theirs.tree.links]

"""The MonkeyBot on its wall in a real Gazebo server, beside the reference: every mode."""

from __future__ import annotations

import numpy as np
import pytest
from running import run_in

pytest.importorskip("monkeybot", reason="the MonkeyBot is not installed")

from gazebo_server import crawl
from roboaccord.numerics.rotations import quaternion_matrix
from roboaccord.scenario.files import load_scenario
from roboaccord.scenario.setup import Setup

STEP = 0.00025  # s, of world wall
ERP = 0.01  # part of its error that DART's weld takes back in a step
LENGTH = 0.61  # m, of a link
# Times of the changes of hands [s], what holds from then on, and the elbow's effort [N m].
CHANGES = (
    (0.0, "a", 0.0), (0.5, "b", 2.0), (0.7, "a", -2.0), (0.8, "none", 1.0), (0.85, "both", 0.0),
)  # fmt: skip
END = 0.9


def swing(*, shift=0.0, period=0.001, duration=END):
    """Make the setup of a swing with all changes of hands `shift` later [s]."""
    steps = [{"at": at + shift * (at > 0), "hold": hold, "effort": e} for at, hold, e in CHANGES]
    changes = (f"control_period={period}", f"physics_step={period}", f"duration={duration}")
    changes += (f"controller={{name: schedule, steps: {steps}}}",)
    return Setup.of(load_scenario("monkeybot", "monkeybot", "swing", changes))


def simulated(engine="reference", **options):
    """Return a motion by another simulator, in the world's own steps, at the control ticks."""
    setup = swing(period=STEP, **options)
    motion = run_in(setup, engine, duration=END)
    return angles(motion)[:: round(0.001 / STEP)]


def angles(motion):
    """Return th1 of link A, th2 of the elbow [rad], and their rates [rad/s] (k, 4)."""
    x, _, _, w = motion.orientation.T
    th1 = np.unwrap(2.0 * np.arctan2(x, w), period=2.0 * np.pi)
    return np.column_stack([th1, motion.q, motion.twist[:, 3], motion.qd])


def hand_b(motion):
    """Return where hand B is, y and z [m] (k, 2)."""
    th1, th2 = angles(motion)[:, :2].T
    reach = [np.sin(th1) + np.sin(th1 + th2), -np.cos(th1) - np.cos(th1 + th2)]
    return motion.position[:, 1:] + LENGTH * np.array(reach).T


@pytest.fixture(scope="module")
def gazebo_run(tmp_path_factory):
    return crawl(swing().scenario, tmp_path_factory.mktemp("swing")).trajectory


def phase(motion, number):
    """Return which samples lie in a phase, its start left out."""
    ends = [at for at, _, _ in CHANGES] + [END]
    return (motion.time > ends[number] + 1e-9) & (motion.time < ends[number + 1] + 1e-9)


def yields(motion, number):
    """Return how far hand B moves while it is held [m]."""
    place = hand_b(motion)
    start = place[np.flatnonzero(phase(motion, number))[0] - 1]
    return float(np.abs(place[phase(motion, number)] - start).max())


def test_on_hand_a_it_is_the_engines_own_scheme_on_a_hinge(gazebo_run):
    """Our DART has hand A on a hinge: the magnet in Gazebo is no weaker.

    The magnet of 1 mg at hand B adds m L^2 = 5.6e-6 of the inertia of its link about the elbow.
    """
    pytest.importorskip("dartpy")
    first = phase(gazebo_run, 0)
    hinge = simulated("dart")[first]
    assert np.abs(angles(gazebo_run)[first] - hinge).max() < 5.6e-6 * np.abs(hinge).max()
    assert np.abs(gazebo_run.position[first]).max() < 1e-9


def test_hand_b_yields_by_no_more_than_a_step_explains(gazebo_run):
    """The weld is one of velocities: a step bends the path by a h^2/2, of which it takes back 1 %.

    The tree's root is hand A, so a is that hand's acceleration.
    """
    held = phase(gazebo_run, 1)
    twist, turn = gazebo_run.twist[held], quaternion_matrix(gazebo_run.orientation[held])
    velocity = (turn @ twist[:, :3, None])[..., 0]
    acceleration = np.linalg.norm(np.diff(velocity, axis=0), axis=1).max() / 0.001
    assert yields(gazebo_run, 1) < 0.5 * acceleration * STEP**2 / ERP


def test_both_hands_swing_within_what_steps_and_yield_explain(gazebo_run):
    """Bound of the angles: the scheme's half step, changes of hands a step off, and the yield.

    A semi-implicit Euler step is half a step off, h/2 of the largest rate. The reference says what
    becomes of hands that change one step later. The hand's yield turns a link by yield / L.
    """
    reference, late = simulated(), simulated(shift=STEP)
    error = np.abs(angles(gazebo_run) - reference)[:, :2].max(axis=1)
    late_error = np.abs(late - reference)[:, :2].max(axis=1)
    rate = np.maximum.accumulate(np.abs(reference[:, 2:]).max(axis=1))
    yielded = yields(gazebo_run, 1) * (gazebo_run.time > CHANGES[1][0])
    bound = 0.6 * STEP * rate + np.maximum.accumulate(late_error) + yielded / LENGTH
    for number in range(len(CHANGES)):
        here = phase(gazebo_run, number)
        assert (error[here] <= bound[here]).all(), f"phase {number}"
    # As figures, that docs/gazebo.md has: on hand A, and after two changes of hands.
    assert error[phase(gazebo_run, 0)].max() < 1e-3 and error.max() < 1e-2


def test_with_both_hands_held_all_motion_stops(gazebo_run):
    last = phase(gazebo_run, 4)
    assert np.abs(gazebo_run.qd[phase(gazebo_run, 3)]).min() > 1.0
    assert np.abs(gazebo_run.qd[last]).max() < 1e-5
    assert np.abs(gazebo_run.twist[last]).max() < 1e-5


def test_the_hands_change_between_two_steps(gazebo_run):
    reported = [(event.kind, event.subject, round(event.time, 9)) for event in gazebo_run.events]
    assert reported == [
        ("magnet_off", "magnet_a", 0.5), ("magnet_on", "magnet_b", 0.5),
        ("magnet_off", "magnet_b", 0.7), ("magnet_on", "magnet_a", 0.7),
        ("magnet_off", "magnet_a", 0.8), ("magnet_on", "magnet_a", 0.85),
        ("magnet_on", "magnet_b", 0.85),
    ]  # fmt: skip


def test_free_the_services_work(tmp_path):
    """Seconds remain after the last switch, for nobody waits for a controller that is late."""
    scenario = swing(duration=5.0).scenario
    motion = crawl(scenario, tmp_path / "free", lockstep="false").trajectory
    kinds = {(event.kind, event.subject) for event in motion.events}
    assert kinds >= {("magnet_off", "magnet_a"), ("magnet_on", "magnet_b")}


def test_a_swing_in_lockstep_repeats_bit_for_bit(gazebo_run, tmp_path):
    again = crawl(swing().scenario, tmp_path / "again").trajectory
    assert again.sha256() == gazebo_run.sha256()


def test_it_starts_with_rates(tmp_path):
    """Half of the gait's step on hand A, which starts at 0.35 and 0.62 rad/s."""
    scenario = load_scenario("monkeybot", "monkeybot", "clocked", ["duration=0.4"])
    setup, motion = Setup.of(scenario), crawl(scenario, tmp_path / "rates").trajectory
    reference = run_in(setup)
    simulated, exact = angles(motion), angles(reference)
    assert simulated[0] == pytest.approx(exact[0], abs=1e-12)
    assert abs(exact[0, 3]) > 0.5
    # A semi-implicit Euler step is half a step off, h/2 of the largest rate.
    rate = np.maximum.accumulate(np.abs(exact[:, 2:]).max(axis=1))
    assert (np.abs(simulated - exact)[:, :2].max(axis=1) <= 0.6 * STEP * rate).all()

"""The map of dribbling over speed and turn rate: statics by hand, slips, and a cell of it."""

from __future__ import annotations

import numpy as np
import pytest
from roboaccord.run.loop import make_simulator, run_setup
from roboaccord.scenario.files import load_scenario
from roboaccord.scenario.setup import Setup
from roboaccord_studies.roller_sphere.dribble import slip_figures
from roboaccord_studies.roller_sphere.statics import (
    ball_acceleration,
    grip_shares,
    largest_turn_rate,
)
from robot_commands import commands_of
from roller_sphere.model.kinematics import Kinematics

pytestmark = pytest.mark.thorough
figures, complaint = commands_of("roller-sphere", quiet=True)


def dribbling(*changes):
    """Return the setup of the scenario with changes."""
    return Setup.of(load_scenario("roller_sphere", "roller_sphere", "dribble", changes))


def test_statics_at_rest_by_hand():
    """Forces of both rollers in their vertical planes, by two moments on paper.

    With the load N along -p_i, p = (-cos 60 cos 55, +-cos 60 sin 55, sin 60), the push forward is
    2 N cos 60 cos 55. By symmetry f = (b, +-c, d); the least size under the balance of moments
    about the ground's contact, for f tangential, is a problem of one free number.
    """
    p = dribbling("parameters.roller_mass=1e-9", "parameters.holder_mass=1e-9").parameters
    x, y, z = -np.cos(np.pi / 3) * np.cos(np.radians(55)), 0.5 * np.sin(np.radians(55)), 0.75**0.5
    # Moment about y at the ground: (p + z) x (f - N p), twice, is 0; and f p = 0.
    b = np.linspace(-0.5, 0.5, 200_001)
    d = ((1 + z) * b + x) / x  # (1 + z)(b - N x) - x (d - N z) = 0 with N = 1
    c = -(b * x + d * z) / y
    least = np.sqrt(b * b + c * c + d * d).min()
    found, _ = grip_shares(p, 0.5, 0.8, np.zeros(3))
    assert found == pytest.approx(least / 0.5, rel=1e-6)


@pytest.mark.parametrize("gain", [-1.5, 0.0, 1.0])
def test_statics_of_gaining_speed_by_hand(gain):
    """The rollers' weight and inertia press, N = F + m (gain x + g z), and the ball has its own.

    As above, and about the ground's contact 2 ((1 + z) b - x d - N x) = (M + I / r^2) gain. What
    is left over are forces on the ground.
    """
    p = dribbling("parameters.roller_mass=0.5").parameters
    x, y, z = -np.cos(np.pi / 3) * np.cos(np.radians(55)), 0.5 * np.sin(np.radians(55)), 0.75**0.5
    N = 15.0 + 0.55 * (gain * x + 9.81 * z)
    b = np.linspace(-N, N, 400_001)
    d = ((1 + z) * b - N * x - 0.5 * (0.43 + 3.469e-3 / 0.11**2) * gain) / x
    size = np.sqrt(b * b + ((b * x + d * z) / y) ** 2 + d * d)
    least = size.argmin()
    rollers, ground = grip_shares(p, 0.5, 0.8, np.array([gain, 0.0, 0.0]))
    assert rollers == pytest.approx(size[least] / (0.5 * N), rel=1e-6)
    forward = 0.43 * gain - 2.0 * (b[least] - N * x)
    down = 0.43 * 9.81 - 2.0 * (d[least] - N * z)
    # The least size is flat: there b is known to its grid, 2 N / 400 000, and to a root.
    assert ground == pytest.approx(abs(forward) / (0.8 * down), rel=1e-4)


def test_statics_limit_turns():
    """The share is 1 at the largest turn rate, which falls with the speed and with friction."""
    p = dribbling().parameters
    rates = [largest_turn_rate(p, 0.5, 0.8, speed) for speed in (0.5, 1.0, 2.0)]
    assert rates[0] > rates[1] > rates[2] > largest_turn_rate(p, 0.4, 0.8, 2.0)
    a = ball_acceleration(p.ball_ahead, 1.0, rates[1])
    assert max(grip_shares(p, 0.5, 0.8, a)) == pytest.approx(1.0)


@pytest.mark.slow
def test_slips_are_the_models_under_viscous_friction():
    """The ball finds the least sum of squares: at rest in its place the slips and w_z of (18)."""
    changes = ("controller.turn_rate=0", "controller.speed=0.5", "initial.spread_q=0")
    setup = dribbling(*changes, "friction={law: viscous, coefficient: 300}", "duration=1.5")
    found = run_setup(setup, make_simulator(setup))
    slipped = slip_figures(setup.parameters, found.window(1.3, 1.5))
    # Beside the slip along X there is what carries the load, 0.15 N of 15 N over 300 N s/m.
    assert slipped.slip == pytest.approx([slipped.model] * 2, rel=0.05)
    assert slipped.share == pytest.approx(0.5, abs=0.01)


def test_map_of_one_turn(figures):
    """The model's slip there is that of a ball that moves as its place in the carrier does."""
    found = figures("dribble-map --speeds 0.5 --turn-rates 1 --engine reference")
    p = dribbling().parameters
    (cell,) = found["cells"]
    assert cell["kept"]
    side = p.ball_ahead * 1.0
    motion = Kinematics(p.rig).inverse(np.hypot(0.5, side), np.arctan2(side, 0.5))
    assert cell["slip"]["model"] == pytest.approx(abs(motion.slip[0]), rel=0.05)
    # One grips and the other slips, or both slip, by the same sum: that of the lines' heights.
    assert sum(cell["slip"]["slip"]) == pytest.approx(2 * abs(motion.slip[0]), rel=0.15)
    assert cell["grip"] < 1.0
    assert found["limits"]["turn_rate"]["0.5"] > 1.0


@pytest.mark.parametrize(
    ("speeds", "line"), [("0", "speeds are above 0"), ("fast", "'fast' is not a number")]
)
def test_wrong_speeds(speeds, line, complaint):
    assert line in complaint(f"dribble-map --speeds {speeds}")

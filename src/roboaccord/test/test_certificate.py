"""Certificate of contact: 0 where the laws hold, closed forms where they are broken on purpose."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from roboaccord.contract import Array, Certificate, Certifier, ContactForce, Worst, to_json
from roboaccord.numerics.rotations import quaternion_matrix

MASS, GRAVITY, MU, STEP = 2.0, 9.81, 0.4, 1e-3
WEIGHT = MASS * GRAVITY
ROUND_OFF = 1e-14  # of a few products of numbers of order 1

seeds = st.integers(0, 2**32 - 1)


def sliding(speed: float = 1.5) -> ContactForce:
    """Return the contact of a box that slides along x over the ground, its first body."""
    force = WEIGHT * np.array([-MU, 0.0, 1.0])
    up, velocity = np.array([0.0, 0.0, 1.0]), np.array([speed, 0.0, 0.0])
    return ContactForce(up, force, gap=0.0, velocity=velocity, mu=MU)


def certified(*contacts: ContactForce) -> Certificate:
    """Return the certificate of one step."""
    certifier = Certifier(WEIGHT)
    certifier.add(STEP, contacts)
    return certifier.result()


def residuals(contact: ContactForce) -> Array:
    """Return the residuals of a contact."""
    return np.array(contact.residuals(WEIGHT))


def test_a_box_that_slides_obeys_all_laws() -> None:
    """Semi-implicit steps under Coulomb friction: v' = v - mu g h, x' = x + h v'.

    The energy falls by mu m g h v' + m (mu g h)^2 / 2 in a step, so that nothing appears.
    """
    certifier, x, v = Certifier(WEIGHT), 0.0, 1.5
    for i in range(200):
        before, v = v, v - MU * GRAVITY * STEP
        x += STEP * v
        contact = sliding(v)
        momentum = MASS * (v - before) - STEP * float(contact.force[0])
        energy = 0.5 * MASS * (v * v - before * before)
        certifier.add(STEP * (i + 1), [contact], abs(momentum) / STEP, energy)
    worst = certifier.result()
    assert worst.signorini.value == 0.0
    assert max(worst.cone.value, worst.dissipation.value) <= ROUND_OFF
    assert worst.momentum.value <= ROUND_OFF / STEP
    assert worst.energy.value == 0.0


def test_a_box_that_sticks_dissipates_nothing_and_lacks_nothing() -> None:
    """Any force within the cone is allowed without slip."""
    for share in (0.0, 0.5, 1.0):
        stuck = replace(sliding(0.0), force=WEIGHT * np.array([-share * MU, 0.0, 1.0]))
        assert residuals(stuck) == pytest.approx(0.0, abs=ROUND_OFF)


def test_friction_one_per_cent_beyond_the_cone() -> None:
    """The residual is 0.01 mu f_n over the weight, and no dissipation is lacking."""
    beyond = replace(sliding(), force=WEIGHT * np.array([-1.01 * MU, 0.0, 1.0]))
    assert residuals(beyond) == pytest.approx([0.0, 0.01 * MU, 0.0], abs=ROUND_OFF)


@pytest.mark.parametrize(
    ("gap", "share", "residual"),
    [
        (2e-3, 1.0, 2e-3),  # from afar: the gap, where the force is the larger
        (2e-3, 1e-4, 1e-4),  # a small force from afar: force over weight, times 1 m
        (-3e-4, 1.0, 3e-4),  # overlap
        (0.0, -0.05, 0.05),  # a pull
        (1e-3, 0.0, 0.0),  # apart
        (0.0, 1.0, 0.0),  # pressed
    ],
)
def test_signorini_is_the_natural_residual(gap: float, share: float, residual: float) -> None:
    """|min(g, f_n / weight x 1 m)|, which is 0 on both branches of the law only."""
    contact = replace(sliding(), gap=gap, force=share * WEIGHT * np.array([0.0, 0.0, 1.0]))
    assert residuals(contact)[0] == pytest.approx(residual, abs=ROUND_OFF)


def test_friction_at_ten_degrees_to_the_velocity_lacks_dissipation() -> None:
    """Friction mu f_n at 10 degrees takes mu f_n v cos(10 deg): 1 - cos of the most is lacking."""
    angle = math.radians(10.0)
    turned = np.array([-MU * math.cos(angle), MU * math.sin(angle), 1.0])
    contact = replace(sliding(), force=WEIGHT * turned)
    lacking = MU * 1.5 * (1.0 - math.cos(angle))
    assert residuals(contact) == pytest.approx([0.0, 0.0, lacking], abs=ROUND_OFF)


def test_momentum_of_which_one_per_cent_is_unexplained() -> None:
    """A residual of 0.01 weight x step per step is 0.01, whatever the step."""
    certifier = Certifier(WEIGHT)
    certifier.add(STEP, [sliding()], momentum_residual=0.01 * WEIGHT * STEP / STEP)
    momentum = certifier.result().momentum
    assert (momentum.value, momentum.time) == (pytest.approx(0.01, rel=ROUND_OFF), STEP)


def test_energy_is_the_largest_rise_since_any_instant_before() -> None:
    """Energies less work 5, 3, 3.5, 3.25, 4.25, 1, 1.5: from 3 to 4.25 J it rises the most."""
    certifier, levels = Certifier(WEIGHT), [5.0, 3.0, 3.5, 3.25, 4.25, 1.0, 1.5]
    for i, change in enumerate(np.diff(levels).tolist()):
        certifier.add(float(i), [], energy_residual=change)
    assert certifier.result().energy == Worst(1.25, 3.0, "J")


@settings(deadline=None)
@given(seeds)
def test_a_rise_is_that_of_all_pairs_of_instants(seed: int) -> None:
    """The running sum gives what a comparison of all pairs of instants gives."""
    certifier, changes = Certifier(WEIGHT), np.random.default_rng(seed).normal(size=20)
    for i, change in enumerate(changes.tolist()):
        certifier.add(float(i), [], energy_residual=change)
    levels = np.concatenate([[0.0], np.cumsum(changes)])
    rise = max(float(levels[k] - levels[i]) for k in range(len(levels)) for i in range(k + 1))
    assert certifier.result().energy.value == pytest.approx(rise, abs=1e-12)


@settings(deadline=None)
@given(seeds)
def test_residuals_do_not_depend_on_axes_or_on_which_body_is_first(seed: int) -> None:
    """Turned axes leave them; so does the other order, with normal, force and velocity reversed."""
    rng = np.random.default_rng(seed)
    force, velocity, orientation = rng.normal(size=3), rng.normal(size=3), rng.normal(size=4)
    gap, mu = rng.uniform(-1e-2, 1e-2), rng.uniform(0.0, 2.0)
    turn = quaternion_matrix(orientation / np.linalg.norm(orientation))
    up = np.array([0.0, 0.0, 1.0])
    contact = ContactForce(up, force, gap, velocity, mu)
    turned = ContactForce(turn @ up, turn @ force, gap, turn @ velocity, mu)
    swapped = ContactForce(-up, -force, gap, -velocity, mu)
    for other in (turned, swapped):
        assert residuals(other) == pytest.approx(residuals(contact), rel=1e-9, abs=1e-12)


@settings(deadline=None)
@given(seeds)
def test_ideal_friction_dissipates_the_most(seed: int) -> None:
    """Of all forces in the cone, mu f_n against the slip alone leaves no residual: f . v is least.

    Any other of the same size at an angle lacks mu f_n |v_t| (1 - cos(angle)) [Moreau 1988].
    """
    rng = np.random.default_rng(seed)
    velocity, angle = rng.normal(size=3), rng.uniform(0.0, math.pi)
    pressing, mu = rng.uniform(0.0, 5.0), rng.uniform(0.0, 2.0)
    up, slip = np.array([0.0, 0.0, 1.0]), velocity * [1.0, 1.0, 0.0]
    speed = float(np.linalg.norm(slip))
    along, across = slip / speed, np.cross(up, slip / speed)
    for turned in (0.0, angle):
        friction = -mu * pressing * (math.cos(turned) * along + math.sin(turned) * across)
        contact = ContactForce(up, friction + pressing * up, 0.0, velocity, mu)
        lacking = mu * pressing * speed * (1.0 - math.cos(turned)) / WEIGHT
        assert residuals(contact) == pytest.approx([0.0, 0.0, lacking], abs=1e-12)


def test_the_worst_contact_and_its_first_time_are_kept() -> None:
    """Of several contacts and steps; a later one that is equal does not replace it."""
    certifier, deep = Certifier(WEIGHT), replace(sliding(), gap=-2e-3)
    certifier.add(0.1, [sliding()])
    certifier.add(0.2, [sliding(), deep, replace(deep, gap=-1e-3)])
    certifier.add(0.3, [deep])
    assert certifier.result().signorini == Worst(2e-3, 0.2, "m")
    assert certified().signorini == Worst(0.0, STEP, "m")  # nothing touches


def test_what_was_not_measured_is_null_and_nan_is_not_hidden() -> None:
    """Without residuals of momentum and energy; and with a state that is not a number."""
    certifier = Certifier(WEIGHT)
    certifier.add(STEP, [sliding()])
    data = certifier.as_dict()
    assert data == to_json(certifier.result())
    assert data["momentum"] == {"value": None, "time": None, "unit": "1"}
    assert data["signorini"] == {"value": 0.0, "time": STEP, "unit": "m"}
    assert {key: value["unit"] for key, value in data.items()} == {
        "signorini": "m",
        "cone": "1",
        "dissipation": "m/s",
        "momentum": "1",
        "energy": "J",
    }
    certifier, nan = Certifier(WEIGHT), np.full(3, math.nan)
    broken = replace(sliding(), force=nan, velocity=nan)
    certifier.add(0.1, [broken, sliding()], math.nan, math.nan)
    certifier.add(0.2, [sliding()], 0.0, -1.0)
    for worst in vars(certifier.result()).values():
        assert (worst.value, worst.time) == (math.inf, 0.1)

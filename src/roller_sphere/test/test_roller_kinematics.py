"""The kinematics against the paper's formulas, its appendix, and a search by scipy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from roller_sphere.model.kinematics import WARNED_CONDITION, Kinematics
from roller_sphere.model.rig import Rig
from scipy.optimize import minimize

pytestmark = pytest.mark.thorough

RIGHT = 0.5 * np.pi
# facts/roller_sphere.md: alpha1, |nu| at 90 and 270 degrees, largest |S|.
TABLE = ((0, 0.912276, 0.0), (10, 0.926349, 0.160859), (20, 0.970824, 0.332041),
         (30, 1.053406, 0.526703))  # fmt: skip
DRAWS = 10_000


def paper(alpha: float) -> Kinematics:
    """Return the kinematics of section 3's rig at an angle [degrees]."""
    return Kinematics(Rig.degrees(1.0, (215, 325), (60, 60), (alpha, -alpha)))


def drawn(rng: np.random.Generator, count: int = 2) -> Rig:
    """Return a random rig, its contacts evenly over the ball."""
    latitude = np.arcsin(rng.uniform(-1.0, 1.0, count))
    azimuth, alpha = rng.uniform(0.0, 2.0 * np.pi, count), rng.uniform(-RIGHT, RIGHT, count)
    return Rig(rng.uniform(0.05, 2.0), azimuth, latitude, alpha)


@st.composite
def rigs(draw) -> Rig:
    """Draw a rig of two rollers whose contacts are 1 degree or more from equal and antipodal."""
    angles = [draw(st.floats(-1.0, 1.0)) for _ in range(6)]
    rig_angles = np.array(angles).reshape(3, 2) * [[np.pi], [RIGHT], [RIGHT]]
    c, s = np.cos(rig_angles[:2]), np.sin(rig_angles[:2])
    p = np.array([c[0] * c[1], s[0] * c[1], s[1]])
    assume(np.linalg.norm(np.cross(p[:, 0], p[:, 1])) > np.sin(np.radians(1.0)))
    return Rig(draw(st.floats(0.05, 2.0)), *rig_angles)


speeds = st.tuples(st.floats(-3.0, 3.0), st.floats(-3.0, 3.0)).map(np.array)


@pytest.mark.parametrize(("alpha", "nu", "slip"), TABLE)
def test_facts_table(alpha, nu, slip):
    """Section 3: roller speeds at 90 and 270 degrees, the largest slip, and the symmetries."""
    kinematics = paper(alpha)
    ahead = kinematics.inverse(1.0, np.radians([90.0, 270.0]))
    assert np.abs(ahead.nu) == pytest.approx(nu, abs=1e-6)
    assert ahead.nu[:, 0] == pytest.approx(ahead.nu[:, 1])
    assert ahead.rho == pytest.approx(0.0, abs=1e-12)
    assert np.abs(ahead.slip) == pytest.approx(slip, abs=1e-6)
    around = kinematics.inverse(1.0, np.radians(np.arange(3600) / 10.0))
    assert np.abs(around.slip).max() == pytest.approx(slip, abs=1e-6)
    aside = kinematics.inverse(1.0, np.radians([0.0, 180.0]))
    assert aside.nu[:, 0] == pytest.approx(-aside.nu[:, 1])
    assert aside.slip == pytest.approx(0.0, abs=1e-12)


@pytest.mark.slow
def test_forward_undoes_inverse():
    """10,000 random rigs, but those whose condition number would eat the digits asked for.

    Left out, before anything is solved: contacts within 1 degree of equal or antipodal, and rigs
    whose planar map has a determinant below 1e-4 of the square of its norm.
    """
    rng = np.random.default_rng(1)
    done, worst = 0, 0.0
    while done < DRAWS:
        rig = drawn(rng)
        kinematics = Kinematics(rig)
        planar = kinematics.turning[:2]
        flat = abs(np.linalg.det(planar)) < 1e-4 * np.sum(planar**2)
        span = np.linalg.norm(np.cross(*rig.contacts[:2]))
        if span < np.sin(np.radians(1.0)) * rig.radius**2 or flat:
            continue
        speed, heading = rng.uniform(0.1, 3.0), rng.uniform(0.0, 2.0 * np.pi)
        there = kinematics.inverse(speed, heading)
        back = kinematics.forward(there.nu)
        turned = np.angle(np.exp(1j * (back.heading - heading)))
        errors = (back.speed / speed - 1.0, turned, back.rho - there.rho)
        worst = max(worst, *np.abs(errors))
        done += 1
    assert worst < 1e-10


@settings(max_examples=300, deadline=None)
@given(rigs(), speeds)
def test_w_is_halfway_between_the_lines(rig, nu):
    """Appendix A: the midpoint of the common perpendicular, from points and directions alone."""
    kinematics = Kinematics(rig)
    (a, b), (u, v) = kinematics.lines(nu)
    # Feet of the perpendicular: (a + s u) - (b + t v) is normal to u and to v.
    cosine = u @ v
    gap = b - a
    s = (gap @ u - cosine * (gap @ v)) / (1.0 - cosine**2)
    t = (cosine * (gap @ u) - gap @ v) / (1.0 - cosine**2)
    middle = 0.5 * (a + s * u + b + t * v)
    scale = 1.0 + np.abs(middle).max() + np.abs(nu).max() / rig.radius
    assert kinematics.omega(nu) == pytest.approx(middle, abs=1e-9 * scale)


@settings(max_examples=300, deadline=None)
@given(rigs(), speeds)
def test_formulas_of_the_paper(rig, nu):
    """(8), (10), (16) with (17), (23) to (28), and S1 = -S2, written out."""
    kinematics, r, e = Kinematics(rig), rig.radius, rig.pole
    (p1, p2), (c1, c2), (s1, s2) = rig.contacts, np.cos(rig.alpha), np.sin(rig.alpha)
    n = np.linalg.norm(np.cross(p1, p2))
    omega = kinematics.omega(nu)
    scale = (1.0 + np.abs(nu).max()) / min(n / r, r)
    near = {"abs": 1e-11 * scale}
    in_plane, normal = rig.split(omega)
    assert in_plane == pytest.approx(-(nu[1] * c2 * p1 - nu[0] * c1 * p2) / n, **near)
    assert normal == pytest.approx((nu[0] * s1 + nu[1] * s2) / (2.0 * r) * e, **near)
    heights = np.array([nu[0] * s1, nu[1] * s2]) / r  # of the two lines along e, (9)
    assert normal == pytest.approx(heights.mean() * e, **near)
    x = -(c2 / n) * p1 + s2 / (2.0 * r) * e
    y = (c1 / n) * p2 + s1 / (2.0 * r) * e
    assert kinematics.turning == pytest.approx(np.column_stack([y, x]), abs=1e-11 * r / n + 1e-12)
    slips = np.cross(omega, rig.contacts) - nu[:, None] * rig.directions
    assert kinematics.zeta(nu) == pytest.approx(slips, **near)
    sizes = r * (omega @ e) - nu * np.sin(rig.alpha)
    assert slips == pytest.approx(sizes[:, None] * rig.across, **near)
    assert nu @ kinematics.slipping.T == pytest.approx(sizes, **near)
    assert sizes.sum() == pytest.approx(0.0, **near)


@settings(max_examples=300, deadline=None)
@given(rigs(), st.floats(0.1, 3.0), st.floats(0.0, 6.28))
def test_inverse_is_the_papers(rig, speed, heading):
    """(15), (18) and (22), away from rollers at 90 degrees, by which (22) divides."""
    kinematics, r, e = Kinematics(rig), rig.radius, rig.pole
    cosines = np.cos(rig.alpha)
    assume(kinematics.condition < WARNED_CONDITION and cosines.min() > 0.02)
    y, x = kinematics.turning.T
    normal = np.cross(x, y)
    slope = (normal[0] * np.sin(heading) - normal[1] * np.cos(heading)) / normal[2]
    omega = speed / r * np.array([-np.sin(heading), np.cos(heading), slope])
    found = kinematics.inverse(speed, heading)
    near = {"rel": 1e-9, "abs": 1e-9 * np.abs(omega).max()}
    assert found.omega == pytest.approx(omega, **near)
    assert found.rho == pytest.approx(np.arctan(slope), abs=1e-9)
    nu = -(np.cross(omega, rig.contacts) @ e) / cosines
    assert found.nu == pytest.approx(nu, rel=1e-9, abs=1e-9 * r * np.abs(omega).max() / 0.02)


def test_one_roller_at_90_degrees():
    """(22) is 0/0 there; (16) still has one answer, and it is that of angles close to there."""
    for alpha in ((90.0, 10.0), (-25.0, -90.0)):
        exact = Kinematics(Rig.degrees(1.0, (215, 325), (60, 60), alpha))
        near = Kinematics(Rig.degrees(1.0, (215, 325), (60, 60), np.array(alpha) * (1 - 1e-8)))
        for heading in np.radians([0.0, 40.0, 133.0, 290.0]):
            found, close = exact.inverse(0.7, heading), near.inverse(0.7, heading)
            back = exact.forward(found.nu)
            assert [back.speed, back.heading] == pytest.approx([0.7, heading], abs=1e-12)
            cosine = np.cos(near.rig.alpha)
            nu = -(np.cross(close.omega, near.rig.contacts) @ near.rig.pole) / cosine
            assert found.nu == pytest.approx(nu, abs=1e-5)


def test_least_slip_against_a_search():
    """Three to five rollers: w is where a search over w finds the least sum of squared slips."""
    rng = np.random.default_rng(2)
    for count in (2, 3, 4, 5):
        rig = drawn(rng, count)
        kinematics, nu = Kinematics(rig), rng.uniform(-1.0, 1.0, count)

        def slips(omega, rig=rig, nu=nu):
            return (np.cross(omega, rig.contacts) - nu[:, None] * rig.directions).ravel()

        # Rows of the linear least squares from slips of unit vectors: no formula of the code.
        matrix = np.column_stack([slips(unit) - slips(np.zeros(3)) for unit in np.eye(3)])
        best = np.linalg.lstsq(matrix, -slips(np.zeros(3)), rcond=None)[0]
        assert kinematics.omega(nu) == pytest.approx(best, abs=1e-11)
        assert kinematics.zeta(nu).ravel() == pytest.approx(slips(best), abs=1e-11)


@pytest.mark.parametrize("spin", [None, 1.5])
def test_more_rollers_than_needed_against_scipy(spin):
    """Speeds with the least slip for a motion, against a constrained search."""
    rng = np.random.default_rng(3)
    for count in (3, 4, 5):
        rig = drawn(rng, count)
        kinematics = Kinematics(rig)
        found = kinematics.inverse(0.8, 2.1, spin=spin)
        asked = 0.8 / rig.radius * np.array([-np.sin(2.1), np.cos(2.1)])
        rows = 2 if spin is None else 3
        target = asked if spin is None else np.append(asked, spin)
        assert found.omega[:rows] == pytest.approx(target, abs=1e-10)

        def slip(nu, kinematics=kinematics):
            return float(np.sum(kinematics.zeta(nu) ** 2))

        start = np.linalg.pinv(kinematics.turning[:rows]) @ target
        best = minimize(
            slip, start, method="SLSQP", options={"ftol": 1e-15, "maxiter": 500},
            constraints={"type": "eq", "fun": lambda nu, k=kinematics, m=rows, t=target: (
                k.turning[:m] @ nu - t)},
        )  # fmt: skip
        assert slip(found.nu) == pytest.approx(best.fun, rel=1e-6, abs=1e-9)
        assert found.nu == pytest.approx(best.x, abs=1e-3)


def test_free_speeds_that_do_not_slip_are_the_least():
    """Three rollers that spin the ball about z without slip: the free spin is left at rest.

    Rollers at 45 degrees of latitude, every 120 degrees, each pushing along its parallel.
    """
    places = np.radians([0.0, 120.0, 240.0]), np.radians([45.0] * 3)
    flat = Rig(1.0, *places, np.zeros(3))
    # The climb of e_i, -c E_z + s X_z, is to be 0.
    rig = Rig(1.0, *places, np.arctan(flat.along[:, 2] / flat.across[:, 2]))
    assert rig.directions[:, 2] == pytest.approx(0.0, abs=1e-12)
    kinematics = Kinematics(rig)
    signs = np.sign(np.cross([0.0, 0.0, 1.0], rig.contacts) * rig.directions).sum(axis=1)
    whirl = np.sign(signs) * np.cos(np.radians(45.0))
    assert kinematics.omega(whirl) == pytest.approx([0.0, 0.0, 1.0], abs=1e-12)
    assert kinematics.zeta(whirl) == pytest.approx(0.0, abs=1e-12)
    found = kinematics.inverse(1.0, 0.4)
    assert found.nu @ whirl == pytest.approx(0.0, abs=1e-12)
    turned = kinematics.inverse(1.0, 0.4, spin=3.0)
    assert turned.omega[2] == pytest.approx(3.0)

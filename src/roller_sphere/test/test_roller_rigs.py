"""Rigs: their vectors, those that are none, and what is left of degenerate ones."""

from __future__ import annotations

import numpy as np
import pytest
from roller_sphere.model.kinematics import REFUSED_CONDITION, WARNED_CONDITION, Kinematics
from roller_sphere.model.rig import Rig, RigError

TURN = 2.0 * np.pi


def mirrored(alpha: float, latitude: float = 60.0) -> Rig:
    """Return the paper's rig at an angle [degrees]."""
    return Rig.degrees(1.0, (215, 325), (latitude, latitude), (alpha, -alpha))


def test_vectors_of_a_rig():
    """Each has the length and the right angles that the paper gives it."""
    rng = np.random.default_rng(0)
    rig = Rig(0.3, rng.uniform(0, 6, 4), rng.uniform(-1.5, 1.5, 4), rng.uniform(-1.5, 1.5, 4))
    assert np.linalg.norm(rig.contacts, axis=1) == pytest.approx(0.3)
    assert rig.contacts[:2] @ rig.pole == pytest.approx(0.0, abs=1e-15)
    assert rig.along[:2] == pytest.approx(np.tile(rig.pole, (2, 1)))
    assert rig.across[:2] == pytest.approx(np.cross(rig.pole, rig.contacts[:2]) / 0.3)
    for vectors in (rig.across, rig.along, rig.axes, rig.directions):
        assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0)
        assert np.einsum("ij,ij->i", vectors, rig.contacts) == pytest.approx(0.0, abs=1e-15)
    assert np.einsum("ij,ij->i", rig.axes, rig.directions) == pytest.approx(0.0, abs=1e-15)
    assert np.einsum("ij,ij->i", rig.axes, rig.across) == pytest.approx(np.cos(rig.alpha))
    c, s = np.cos(rig.alpha)[:, None], np.sin(rig.alpha)[:, None]
    assert rig.directions == pytest.approx(s * rig.across - c * rig.along)


@pytest.mark.parametrize("apart", [0.0, 1e-9, 1e-6])
@pytest.mark.parametrize(("turn", "words"), [(0.0, "the same point"), (np.pi, "antipodal")])
def test_contacts_that_define_no_plane(apart, turn, words):
    """N = 0, and so near to it that e is made of rounding errors."""
    with pytest.raises(RigError, match=words):
        Rig(1.0, [0.4, 0.4 + turn + apart], [0.0, 0.0], [0.0, 0.0])
    Rig(1.0, [0.4, 0.4 + turn + 1e-4], [0.0, 0.0], [0.0, 0.0])


def test_numbers_of_angles_must_agree():
    with pytest.raises(RigError, match="differ in number"):
        Rig(1.0, [0.0, 1.0], [0.0, 0.0, 0.0], [0.0, 0.0])


def test_both_rollers_along_the_equator_of_their_contacts():
    """X x Y = 0 at 90 degrees: both turn the ball about e, so V is along e x z or against it."""
    rig = mirrored(90.0)
    kinematics = Kinematics(rig)
    with pytest.raises(RigError, match="X x Y = 0"):
        kinematics.inverse(1.0, 0.3)
    across = np.cross(rig.pole, [0.0, 0.0, 1.0])
    expected = np.arctan2(across[1], across[0]) % np.pi
    assert kinematics.remaining == pytest.approx((expected % np.pi, expected % np.pi + np.pi))
    # And with e along z none remains.
    flat = Kinematics(Rig.degrees(1.0, (0, 90), (0, 0), (90, 90)))
    assert flat.remaining == ()
    with pytest.raises(RigError, match="no heading remains"):
        flat.inverse(1.0, 0.3)
    with pytest.raises(RigError, match="w_x = w_y = 0"):
        flat.forward([1.0, 1.0])


def test_headings_out_of_reach():
    """(X x Y)_z = 0 near 38.9566 degrees: refused as typed, warned of before, fine further off."""

    def height(alpha):
        y, x = Kinematics(mirrored(alpha)).turning.T
        return np.cross(x, y)[2]

    assert height(38.95655) * height(38.95665) < 0.0
    for alpha in (38.9566, 38.95658, 38.95659):
        with pytest.raises(RigError, match=r"\(X x Y\)_z = 0.*90.0000 and 270.0000"):
            Kinematics(mirrored(alpha)).inverse(1.0, 0.0)
    near = Kinematics(mirrored(38.9))
    assert WARNED_CONDITION < near.condition < REFUSED_CONDITION
    assert f"{near.condition:.4g}" in near.warning
    # nu blows up and changes its sign.
    low, high = near.inverse(1.0, 0.0).nu[0], Kinematics(mirrored(39.0)).inverse(1.0, 0.0).nu[0]
    assert low < -100.0
    assert high > 100.0
    assert Kinematics(mirrored(30.0)).warning is None


def test_no_heading_forward():
    """At speeds whose planar parts cancel, exactly or but for rounding."""
    kinematics = Kinematics(Rig.degrees(1.0, (0, 120, 240), (45, 45, 45), (10, -10, 20)))
    _, _, v = np.linalg.svd(kinematics.turning[:2])
    for nu in (v[2], np.zeros(3)):
        with pytest.raises(RigError, match="no heading"):
            kinematics.forward(nu)
    assert kinematics.omega(v[2])[2] != 0.0  # it spins


def test_headings_stay_below_a_turn():
    kinematics = Kinematics(mirrored(10.0))
    asked = np.array([-1e-17, 0.0, TURN, -0.1, 7.0, 1e3])
    found = kinematics.inverse(1.0, asked)
    assert ((found.heading >= 0.0) & (found.heading < TURN)).all()
    assert np.exp(1j * found.heading) == pytest.approx(np.exp(1j * asked))
    back = kinematics.forward(found.nu).heading
    assert ((back >= 0.0) & (back < TURN)).all()


def test_shapes_broadcast():
    """Speeds (2, 1) and headings (3,) make (2, 3); at rest rho is that of the limit."""
    kinematics = Kinematics(mirrored(20.0))
    found = kinematics.inverse(np.array([[0.0], [2.0]]), np.array([0.1, 1.0, 4.0]))
    assert found.nu.shape == (2, 3, 2) and found.omega.shape == (2, 3, 3)
    assert found.rho[0] == pytest.approx(found.rho[1])
    assert kinematics.zeta(found.nu).shape == (2, 3, 2, 3)
    assert kinematics.lines(found.nu)[0].shape == (2, 3, 2, 3)
    assert not found.nu[0].any()
    assert kinematics.forward(found.nu[1]).rho == pytest.approx(found.rho[1])

"""Command `accord roller-sphere claims`: tests the sentences of the paper's section 3 by its model.

The paper is Kimura, Ogata and Ishii (2019), about a ball that two rollers drive by friction: w is
the ball's angular velocity, rho the angle of its axis, nu_i the peripheral speed of roller i, and
S_i its slip. The rig is the paper's, at its four roller angles alpha. Each figure of the paper has
a function that yields its claims in order: a sentence that must be true at all headings, a quantity
that must be 0, or a printed number. Headings phi are angles of the ball's velocity from x; `ahead`
marks 90 and 270 degrees, `aside` 0 and 180.

PRINTED_NU, PRINTED_SLIP and the sentences are the paper's: test_roller_survey and the table of
docs/roller_sphere.md have each with its result. A claim is added in the function of its figure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from roboaccord.cli import Result
from roboaccord.contract import Array, Quantity
from roller_sphere.source.figures import Case, cases

BoolArray = NDArray[np.bool_]

# Degrees; between the headings at which sentences are tested, finer than a figure of the paper
# shows.
HEADING_STEP = 0.1
ROUND_OFF = 1e-12  # m/s or rad; smaller values are round-off, 4500 eps of speeds of 1 m/s
PRINTED_NU = (0.91, 0.93, 0.96, 1.03)  # m/s; roller speeds at the four roller angles, section 3
PRINTED_SLIP = (0.0, 0.16, 0.32, 0.52)  # m/s; slips at the same


@dataclass(frozen=True)
class Claim:
    """A claim: its text, the printed value, the computed one, and whether the claim is true."""

    claim: Annotated[str, Quantity("", form="text")]
    printed: Annotated[str, Quantity("", form="s")]
    found: Annotated[str, Quantity("", form="text")]
    holds: Annotated[bool, Quantity("", form="s")]


def claims() -> list[Claim]:
    """Return all claims of section 3 in its order."""
    phi = np.round(np.arange(0.0, 360.0, HEADING_STEP), 6)
    rigs = cases(phi)
    first = [*_claims_3a(rigs), *_claims_3b(phi, rigs)]
    return [*first, *_claims_3c(phi, rigs), *_claims_3d(phi, rigs)]


def _claims_3a(cases: Sequence[Case]) -> Iterator[Claim]:
    """Yield the claims about figure 3a, the end points of w, for the rigs at the four angles."""
    heights = [np.abs(case.motion.omega[:, 2]).max() for case in cases]
    ratios = ", ".join(f"{np.hypot(1.0, height):.4f}" for height in heights)
    text, is_rising = f"ratio of the axes {ratios}", bool((np.diff(heights) > 0.0).all())
    yield Claim("3a: the ellipses of w are sharper in turn", "sentence", text, is_rising)
    # The planes of all ellipses contain the x axis if no normal X x Y has an x component.
    tilt = max(abs(_plane_normal(case)[0]) for case in cases)
    words = "it is the x-axis: x of the unit normals {:.1e} at most"
    yield _zero_claim("3a: they have a common line parallel to x", tilt, words)


def _claims_3b(phi: Array, cases: Sequence[Case]) -> Iterator[Claim]:
    """Yield the claims about figure 3b, the angle of the axis over the headings phi (m,) [deg]."""
    rho = np.array([case.motion.rho for case in cases])
    ahead = np.isin(phi, (90.0, 270.0))
    order = _grows(rho) | ahead
    yield _everywhere_claim("3b: |rho| grows with alpha for all phi, but where it is 0", phi, order)
    largest = np.abs(rho[:, ahead]).max()
    yield _zero_claim("3b: rho = 0 at phi 90 and 270", largest, "|rho| {:.1e} rad at most", "0")


def _claims_3c(phi: Array, cases: Sequence[Case]) -> Iterator[Claim]:
    """Yield the claims about figure 3c, the speeds of the rollers over the headings (m,) [deg]."""
    nu = np.array([case.motion.nu for case in cases])  # (4, m, 2)
    ahead, aside = np.isin(phi, (90.0, 270.0)), np.isin(phi, (0.0, 180.0))
    for roller in (0, 1):
        claim = f"3c: |nu{roller + 1}| grows with alpha for all phi"
        yield _everywhere_claim(claim, phi, _grows(nu[..., roller]))
    for words, where, sign in (
        ("-nu2 at phi 0 and 180", aside, 1.0),
        ("nu2 at phi 90 and 270", ahead, -1.0),
    ):
        gap = np.abs(nu[:, where, 0] + sign * nu[:, where, 1]).max()
        yield _zero_claim(f"3c: nu1 = {words}", gap, "differ by {:.1e} m/s at most")
    for case, values, printed in zip(cases, nu[:, ahead], PRINTED_NU, strict=True):
        yield _number_claim(f"3c: |nu| at phi 90 and 270, alpha {case.alpha:g}", values, printed)


def _claims_3d(phi: Array, cases: Sequence[Case]) -> Iterator[Claim]:
    """Yield the claims about figure 3d, the slip over the headings (m,) [deg]."""
    slip = np.array([case.motion.slip for case in cases])  # (4, m, 2)
    ahead, aside = np.isin(phi, (90.0, 270.0)), np.isin(phi, (0.0, 180.0))
    order = _grows(slip[..., 0]) & _grows(slip[..., 1]) | aside
    yield _everywhere_claim("3d: |S| grows with alpha for all phi, but where it is 0", phi, order)
    for words, where, sign in (
        ("face to face for 0 < phi < 180", (phi > 0.0) & (phi < 180.0), 1.0),
        ("back to back for 180 < phi < 360", phi > 180.0, -1.0),
    ):
        smallest = min((sign * _closing_speeds(case)[where]).min() for case in cases[1:])
        claim = f"3d: zeta1 and zeta2 are {words}"
        text = f"{smallest:.2g} m/s in that direction at least"
        yield Claim(claim, "sentence", text, bool(smallest > 0.0))
    bound = "{:.1e} m/s at most"
    yield _zero_claim("3d: no slip at phi 0 and 180", np.abs(slip[:, aside]).max(), bound, "0")
    largest = np.abs(slip).max(axis=1)
    gap = np.abs(largest[:, None] - np.abs(slip[:, ahead])).max()
    claim = "3d: |S1| and |S2| are largest at phi 90 and 270"
    yield _zero_claim(claim, gap, "{:.1e} m/s below the largest at most")
    for case, values, printed in zip(cases, slip[:, ahead], PRINTED_SLIP, strict=True):
        yield _number_claim(f"3d: largest |S1| and |S2|, alpha {case.alpha:g}", values, printed)
    yield _zero_claim("3d: no slip for any phi at alpha 0", np.abs(slip[0]).max(), bound, "0")
    straight = cases[0].kinematics
    text, drives_all = f"condition number {straight.condition:.3f}", straight.remaining is None
    yield Claim("every heading can be driven at alpha 0", "sentence", text, drives_all)


def _everywhere_claim(claim: str, phi: Array, holds: BoolArray) -> Claim:
    """Return the claim that something holds at all headings."""
    return Claim(claim, "sentence", _failures_text(phi, holds), bool(holds.all()))


def _zero_claim(claim: str, largest: float, words: str, printed: str = "sentence") -> Claim:
    """Return the claim that a quantity is 0, by its largest absolute value."""
    return Claim(claim, printed, words.format(largest), bool(largest < ROUND_OFF))


def _number_claim(claim: str, values: Array, printed: float) -> Claim:
    """Return the claim that all |values| are a number printed with two decimals."""
    sizes = np.abs(values)
    holds = bool((np.round(sizes, 2) == printed).all())
    return Claim(claim, f"{printed:g}", f"{sizes.max():.6f}", holds)


def _grows(values: Array) -> BoolArray:
    """Return at which headings (m,) |values| (4, m) grow from each rig to the next."""
    return np.asarray((np.diff(np.abs(values), axis=0) > ROUND_OFF).all(axis=0))


def _failures_text(phi: Array, holds: BoolArray) -> str:
    """Return the headings at which a sentence fails, in words."""
    if holds.all():
        return f"at all headings, every {HEADING_STEP:g} degrees"
    edges = np.flatnonzero(np.diff(np.r_[False, ~holds, False].astype(int)))
    spans = [
        f"{phi[a]:g}" if b == a + 1 else f"{phi[a]:g} to {phi[b - 1]:g}"
        for a, b in zip(edges[::2], edges[1::2])
    ]
    return f"fails at {', '.join(spans)} degrees"


def _plane_normal(case: Case) -> Array:
    """Return the unit normal of the plane that holds w (3,)."""
    y, x = case.kinematics.turning.T
    normal = np.cross(x, y)
    return np.asarray(normal / np.linalg.norm(normal))


def _closing_speeds(case: Case) -> Array:
    """Return the speed with which each contact slips towards the other (m, 2) [m/s]."""
    first, second = case.kinematics.rig.contacts
    direction = (second - first) / np.linalg.norm(second - first)
    zeta = case.kinematics.zeta(case.motion.nu)
    return np.column_stack([zeta[:, 0] @ direction, -zeta[:, 1] @ direction])


@dataclass(frozen=True)
class Claims:
    """All claims, for printing."""

    table: Annotated[list[Claim], Quantity("", "the claims of section 3")]


def claims_command() -> Result:
    """Test every claim of the paper's section 3 by its own model.

    Examples:

      accord roller-sphere claims

      accord roller-sphere claims --json
    """
    return Result(Claims(claims()))

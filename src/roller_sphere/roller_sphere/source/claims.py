"""Section 3 of the paper, its rig at four roller angles and all headings: claims and figures 3."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from roboaccord.contract import Array, Quantity
from roboaccord.report import AZIMUTH, ELEVATION, INK, PAGE, SQUARE, Still, legend, picture
from roboaccord.run import write_columns

from roller_sphere.model.kinematics import Kinematics, RollerMotion
from roller_sphere.model.rig import Rig

BoolArray = NDArray[np.bool_]

SOURCE = "Kimura, Ogata and Ishii 2019, doi 10.2991/jrnal.k.190531.006"
AZIMUTHS, LATITUDES = (215.0, 325.0), (60.0, 60.0)  # degrees
ALPHAS = (0.0, 10.0, 20.0, 30.0)  # of roller 1, degrees; roller 2 has the opposite
COLOURS = ("#d1495b", "#3366cc", "#12a594", "#e377c2")  # red, blue, green and pink, as there
SPEED = 1.0  # m/s
STEP = 0.1  # degrees between the headings on which sentences are tried
ZERO = 1e-12  # m/s, rad: rounding
PRINTED_NU = (0.91, 0.93, 0.96, 1.03)
PRINTED_SLIP = (0.0, 0.16, 0.32, 0.52)


@dataclass(frozen=True)
class Case:
    """Hold the rig at one roller angle, with its motions along all headings."""

    alpha: float
    kinematics: Kinematics
    motion: RollerMotion


def cases(heading_deg: Array) -> list[Case]:
    """Return the four cases at headings (m,) [degrees]: roller 2 has the opposite angle."""
    found = []
    for alpha in ALPHAS:
        kinematics = Kinematics(Rig.degrees(1.0, AZIMUTHS, LATITUDES, (alpha, -alpha)))
        found.append(Case(alpha, kinematics, kinematics.inverse(SPEED, np.radians(heading_deg))))
    return found


@dataclass(frozen=True)
class Claim:
    """Hold a claim: its text, the printed value, the computed value, and whether it holds."""

    claim: Annotated[str, Quantity("", form="text")]
    printed: Annotated[str, Quantity("", form="s")]
    found: Annotated[str, Quantity("", form="text")]
    holds: Annotated[bool, Quantity("", form="s")]


def claims() -> list[Claim]:
    """Return all claims of section 3 in its order."""
    phi = np.round(np.arange(0.0, 360.0, STEP), 6)
    found = cases(phi)
    return [*_trajectories(found), *_axes(phi, found), *_speeds(phi, found), *_slips(phi, found)]


def _trajectories(found: Sequence[Case]) -> Iterator[Claim]:
    """Figure 3a: the end points of w."""
    heights = [np.abs(case.motion.omega[:, 2]).max() for case in found]
    axes = ", ".join(f"{np.hypot(1.0, h):.4f}" for h in heights)
    yield _sentence(
        "3a: the ellipses of w are sharper in turn",
        f"ratio of the axes {axes}",
        bool((np.diff(heights) > 0.0).all()),
    )
    # All planes of the ellipses hold the x-axis where no normal X x Y has an x-component.
    tilt = max(abs(_normal(case)[0]) for case in found)
    words = "it is the x-axis: x of the unit normals {:.1e} at most"
    yield _zero("3a: they have a common line parallel to x", tilt, words)


def _axes(phi: Array, found: Sequence[Case]) -> Iterator[Claim]:
    """Figure 3b: the angle of the axis."""
    rho = np.array([case.motion.rho for case in found])
    ahead = _at(phi, 90.0, 270.0)
    order = _ordered(rho) | ahead
    yield _everywhere("3b: |rho| grows with alpha for all phi, but where it is 0", phi, order)
    largest = np.abs(rho[:, ahead]).max()
    yield _zero("3b: rho = 0 at phi 90 and 270", largest, "|rho| {:.1e} rad at most", "0")


def _speeds(phi: Array, found: Sequence[Case]) -> Iterator[Claim]:
    """Figure 3c: the speeds of the rollers."""
    nu = np.array([case.motion.nu for case in found])  # (4, m, 2)
    ahead, aside = _at(phi, 90.0, 270.0), _at(phi, 0.0, 180.0)
    for roller in (0, 1):
        claim = f"3c: |nu{roller + 1}| grows with alpha for all phi"
        yield _everywhere(claim, phi, _ordered(nu[..., roller]))
    for words, where, sign in (
        ("-nu2 at phi 0 and 180", aside, 1.0),
        ("nu2 at phi 90 and 270", ahead, -1.0),
    ):
        gap = np.abs(nu[:, where, 0] + sign * nu[:, where, 1]).max()
        yield _zero(f"3c: nu1 = {words}", gap, "differ by {:.1e} m/s at most")
    for case, values, printed in zip(found, nu[:, ahead], PRINTED_NU, strict=True):
        yield _number(f"3c: |nu| at phi 90 and 270, alpha {case.alpha:g}", values, printed)


def _slips(phi: Array, found: Sequence[Case]) -> Iterator[Claim]:
    """Figure 3d: the slip."""
    slip = np.array([case.motion.slip for case in found])  # (4, m, 2)
    ahead, aside = _at(phi, 90.0, 270.0), _at(phi, 0.0, 180.0)
    order = _ordered(slip[..., 0]) & _ordered(slip[..., 1]) | aside
    yield _everywhere("3d: |S| grows with alpha for all phi, but where it is 0", phi, order)
    for words, part, sign in (
        ("face to face for 0 < phi < 180", (phi > 0.0) & (phi < 180.0), 1.0),
        ("back to back for 180 < phi < 360", phi > 180.0, -1.0),
    ):
        least = min((sign * _towards(case)[part]).min() for case in found[1:])
        claim = f"3d: zeta1 and zeta2 are {words}"
        yield _sentence(claim, f"{least:.2g} m/s in that direction at least", bool(least > 0.0))
    most = "{:.1e} m/s at most"
    yield _zero("3d: no slip at phi 0 and 180", np.abs(slip[:, aside]).max(), most, "0")
    largest = np.abs(slip).max(axis=1)
    gap = np.abs(largest[:, None] - np.abs(slip[:, ahead])).max()
    claim = "3d: |S1| and |S2| are largest at phi 90 and 270"
    yield _zero(claim, gap, "{:.1e} m/s below the largest at most")
    for case, values, printed in zip(found, slip[:, ahead], PRINTED_SLIP, strict=True):
        yield _number(f"3d: largest |S1| and |S2|, alpha {case.alpha:g}", values, printed)
    yield _zero("3d: no slip for any phi at alpha 0", np.abs(slip[0]).max(), most, "0")
    straight = found[0].kinematics
    number = f"condition number {straight.condition:.3f}"
    yield _sentence("every heading can be driven at alpha 0", number, straight.remaining is None)


def _sentence(claim: str, found: str, holds: bool) -> Claim:
    """Return a claim that is a sentence."""
    return Claim(claim, "sentence", found, holds)


def _everywhere(claim: str, phi: Array, holds: BoolArray) -> Claim:
    """Return the claim that something holds at all headings."""
    return _sentence(claim, _where(phi, holds), bool(holds.all()))


def _zero(claim: str, largest: float, words: str, printed: str = "sentence") -> Claim:
    """Return the claim that something is 0 whose largest size is given, with what was found."""
    return Claim(claim, printed, words.format(largest), bool(largest < ZERO))


def _number(claim: str, values: Array, printed: float) -> Claim:
    """Return the claim that all |values| are a number printed with two decimals."""
    found = np.abs(values)
    holds = bool((np.round(found, 2) == printed).all())
    return Claim(claim, f"{printed:g}", f"{found.max():.6f}", holds)


def _ordered(values: Array) -> BoolArray:
    """Return where |values| (4, m) grow from case to case (m,)."""
    return np.asarray((np.diff(np.abs(values), axis=0) > ZERO).all(axis=0))


def _at(phi: Array, *headings: float) -> BoolArray:
    """Return which of the headings are some given ones [degrees]."""
    return np.isin(phi, headings)


def _where(phi: Array, holds: BoolArray) -> str:
    """Return the headings where a sentence fails, in words."""
    if holds.all():
        return f"at all headings, every {STEP:g} degrees"
    edges = np.flatnonzero(np.diff(np.r_[False, ~holds, False].astype(int)))
    spans = [
        f"{phi[a]:g}" if b == a + 1 else f"{phi[a]:g} to {phi[b - 1]:g}"
        for a, b in zip(edges[::2], edges[1::2])
    ]
    return f"fails at {', '.join(spans)} degrees"


def _normal(case: Case) -> Array:
    """Return the unit normal of the plane that holds w (3,)."""
    y, x = case.kinematics.turning.T
    normal = np.cross(x, y)
    return np.asarray(normal / np.linalg.norm(normal))


def _towards(case: Case) -> Array:
    """Return how fast each contact slips towards the other (m, 2) [m/s]."""
    first, second = case.kinematics.rig.contacts
    apart = (second - first) / np.linalg.norm(second - first)
    zeta = case.kinematics.zeta(case.motion.nu)
    return np.column_stack([zeta[:, 0] @ apart, -zeta[:, 1] @ apart])


HEADINGS = np.arange(361.0)  # degrees
PHI = "heading phi [degrees]"
FLAT = 0.15  # of the height of figure 3a, which would be eleven times its depth
TITLES = "wx [rad/s]", "wy [rad/s]", "wz [rad/s]"
QUARTERS = np.arange(0.0, 361.0, 45.0)  # degrees


def write_paper(folder: Path) -> list[Still]:
    """Write each figure as SVG, with its table as CSV: columns by name, a row a heading."""
    found = cases(HEADINGS)
    rho = [np.degrees(case.motion.rho)[None] for case in found]
    angles = {"phi_deg": HEADINGS} | {
        f"rho_alpha_{case.alpha:g}_deg": values[0] for case, values in zip(found, rho, strict=True)
    }
    return [
        write_trajectories(found, folder),
        _write_curves(
            folder / "figure_3b.svg", "angle of the axis", "rho [degrees]",
            found, rho, ("rho",), angles,
            "The axis lies in the x-y plane at 90 and 270 degrees, whatever alpha is.",
        ),
        _write_curves(
            folder / "figure_3c.svg", "speeds of the rollers", "nu [m/s]",
            found, [case.motion.nu.T for case in found], ("nu1", "nu2"),
            _table(found, "nu", ("nu1", "nu2"), "m_s"),
            "Solid: roller 1, dashed: roller 2. About 90 and 270 degrees a larger alpha does not "
            "always need faster rollers.",
        ),
        _write_curves(
            folder / "figure_3d.svg", "slip", "S [m/s]",
            found, [case.motion.slip.T for case in found], ("S1", "S2"),
            _table(found, "slip", ("S1", "S2"), "m_s"),
            "Solid: roller 1, dashed: roller 2, its opposite. None at alpha 0.",
        ),
    ]  # fmt: skip


def write_trajectories(found: list[Case], folder: Path) -> Still:
    """Write figure 3a: the end points of w over all headings."""
    path = folder / "figure_3a.svg"
    with picture(path, SQUARE, subplot_kw={"projection": "3d"}) as axes:
        for case, colour in zip(found, COLOURS, strict=True):
            axes.plot(*case.motion.omega.T, color=colour, label=f"alpha {case.alpha:g} deg")
        for x, word, fill in ((-1.0, "90", INK), (1.0, "270", PAGE)):
            axes.plot(x, 0.0, 0.0, "o", color=fill, mec=INK, label=f"phi {word} deg")
        axes.set(xlabel=TITLES[0], ylabel=TITLES[1], zlabel=TITLES[2])
        axes.set(xticks=(-1.0, 0.0, 1.0), yticks=(-1.0, 0.0, 1.0))
        spans = np.array([np.ptp(ends()) for ends in (axes.get_xlim, axes.get_ylim, axes.get_zlim)])
        axes.set_box_aspect(spans * (1.0, 1.0, FLAT), zoom=0.85)  # room for the titles
        axes.view_init(elev=ELEVATION, azim=AZIMUTH)
        legend(axes)
    return Still(
        path,
        "Figure 3a: end points of w",
        "Ellipses over one circle, the steeper the larger alpha is. All meet on the x-axis, at the "
        f"headings 90 and 270 degrees. Heights are drawn {FLAT:g} times as large.",
        _write_table(path, _table(found, "omega", ("wx", "wy", "wz"), "rad_s")),
    )


def _write_curves(
    path: Path, title: str, unit: str, found: list[Case],
    values: list[Array], names: tuple[str, ...], table: Mapping[str, Array],
    caption: str,
) -> Still:  # fmt: skip
    """Write curves over the headings, a colour for each alpha, and the second of `names` dashed."""
    with picture(path) as axes:
        for k, name in enumerate(names):
            for case, rows, colour in zip(found, values, COLOURS, strict=True):
                axes.plot(HEADINGS, rows[k], color=colour, ls="--" if k else "-",
                          label=f"{name}, alpha {case.alpha:g} deg")  # fmt: skip
        axes.set(xlabel=PHI, ylabel=unit, xlim=(0.0, 360.0), xticks=QUARTERS)
        legend(axes)
    return Still(path, f"Figure {path.stem[-2:]}: {title}", caption, _write_table(path, table))


def _write_table(path: Path, table: Mapping[str, Array]) -> Path:
    """Write the numbers of a figure beside it, and return their file."""
    data = path.with_suffix(".csv")
    write_columns(data, table)
    return data


def _table(found: list[Case], of: str, names: tuple[str, ...], unit: str) -> dict[str, Array]:
    columns = {"phi_deg": HEADINGS}
    for case in found:
        for name, values in zip(names, getattr(case.motion, of).T, strict=True):
            columns[f"{name}_alpha_{case.alpha:g}_{unit}"] = values
    return columns

"""Figures 3a to 3d of the paper: its rig at four roller angles, along all headings.

The paper is Kimura, Ogata and Ishii (2019), section 3. Each figure is an SVG with its numbers as
CSV beside it. AZIMUTHS, LATITUDES and ALPHAS describe the paper's rig, COLOURS are those of its
figures; HEADINGS, HEIGHT_SCALE and QUARTERS may be changed. A further figure is a call in
`write_paper_figures`. test_roller_figures reads the columns of the CSV files.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from roboaccord import report
from roboaccord.contract import Array
from roboaccord.run import write_columns, write_text

from roller_sphere.model.kinematics import Kinematics, RollerMotion
from roller_sphere.model.rig import Rig

SOURCE = "Kimura, Ogata and Ishii 2019, doi 10.2991/jrnal.k.190531.006"
AZIMUTHS, LATITUDES = (215.0, 325.0), (60.0, 60.0)  # degrees; section 3 of the paper
ALPHAS = (0.0, 10.0, 20.0, 30.0)  # degrees; of roller 1, the opposite of roller 2; section 3
COLOURS = ("#d1495b", "#3366cc", "#12a594", "#e377c2")  # red, blue, green and pink, as in the paper
SPEED = 1.0  # m/s; speed of the ball; section 3
HEADINGS = np.arange(361.0)  # degrees; one a degree, as fine as the picture's pixels
PHI = "heading phi [degrees]"  # label of the abscissa
# Scale of heights in figure 3a, by eye: it would else be eleven times as high as deep, and is 1.6
HEIGHT_SCALE = 0.15
TITLES = "wx [rad/s]", "wy [rad/s]", "wz [rad/s]"
QUARTERS = np.arange(0.0, 361.0, 45.0)  # degrees; headings that are labelled on the abscissa


@dataclass(frozen=True)
class Case:
    """A rig at one roller angle [degrees], with its motions along all headings."""

    alpha: float
    kinematics: Kinematics
    motion: RollerMotion


class CurvePlot(NamedTuple):
    """A figure with curves over the headings.

    Attributes:
        title: begins with the number of the figure.
        ylabel: of the axis.
        names, unit: of the quantities, as the columns of the table have them.
        caption: under the figure.
    """

    title: str
    ylabel: str
    names: tuple[str, ...]
    unit: str
    caption: str


# Captions of the figures
FLAT_AXIS = "The axis lies in the x-y plane at 90 and 270 degrees, whatever alpha is."
FAST = "About 90 and 270 degrees a larger alpha does not always need faster rollers."
OPPOSITE = "Solid: roller 1, dashed: roller 2, its opposite. None at alpha 0."
DASHED = f"Solid: roller 1, dashed: roller 2. {FAST}"
AXIS_ANGLE = CurvePlot("3b: angle of the axis", "rho [degrees]", ("rho",), "deg", FLAT_AXIS)
ROLLER_SPEEDS = CurvePlot("3c: speeds of the rollers", "nu [m/s]", ("nu1", "nu2"), "m_s", DASHED)
SLIP = CurvePlot("3d: slip", "S [m/s]", ("S1", "S2"), "m_s", OPPOSITE)


def cases(heading_deg: Array) -> list[Case]:
    """Return the four cases at headings (m,) [degrees]: roller 2 has the opposite angle."""
    all_cases = []
    for alpha in ALPHAS:
        kinematics = Kinematics(Rig.degrees(1.0, AZIMUTHS, LATITUDES, (alpha, -alpha)))
        motion = kinematics.inverse(SPEED, np.radians(heading_deg))
        all_cases.append(Case(alpha, kinematics, motion))
    return all_cases


def write_figures(folder: Path, command: str, facts: Mapping[str, str]) -> list[Path]:
    """Write all figures, and the page that shows them with the command that makes it again.

    Returns:
        the files: the page, and the others by name.

    Raises:
        AccordError: if one cannot be written.
    """
    stills = write_paper_figures(folder)
    title, lead = "A sphere driven by rollers", f"Figures of {SOURCE}, done again."
    page = report.render_plots(title, lead, stills, command=command, facts=facts)
    write_text(folder / "index.html", page)
    return [folder / "index.html", *sorted(file for still in stills for file in still.files)]


def write_paper_figures(folder: Path) -> list[report.Still]:
    """Write each figure as SVG, with its table as CSV: a column for each curve, a row a heading."""
    rig_cases = cases(HEADINGS)
    angles = [np.degrees(case.motion.rho)[:, None] for case in rig_cases]
    return [
        write_trajectories(rig_cases, folder),
        _write_curves(folder, AXIS_ANGLE, angles),
        _write_curves(folder, ROLLER_SPEEDS, [case.motion.nu for case in rig_cases]),
        _write_curves(folder, SLIP, [case.motion.slip for case in rig_cases]),
    ]


def write_trajectories(rig_cases: list[Case], folder: Path) -> report.Still:
    """Write figure 3a: the end points of w over all headings."""
    path = folder / "figure_3a.svg"
    with report.picture(path, report.SQUARE, subplot_kw={"projection": "3d"}) as axes:
        for case, colour in zip(rig_cases, COLOURS, strict=True):
            axes.plot(*case.motion.omega.T, color=colour, label=f"alpha {case.alpha:g} deg")
        for x, heading, fill in ((-1.0, "90", report.INK), (1.0, "270", report.PAGE)):
            axes.plot(x, 0.0, 0.0, "o", color=fill, mec=report.INK, label=f"phi {heading} deg")
        axes.set(xlabel=TITLES[0], ylabel=TITLES[1], zlabel=TITLES[2])
        axes.set(xticks=(-1.0, 0.0, 1.0), yticks=(-1.0, 0.0, 1.0))
        spans = np.array([np.ptp(ends()) for ends in (axes.get_xlim, axes.get_ylim, axes.get_zlim)])
        axes.set_box_aspect(spans * (1.0, 1.0, HEIGHT_SCALE), zoom=0.85)  # room for the titles
        axes.view_init(elev=report.ELEVATION, azim=report.AZIMUTH)
        report.legend(axes)
    caption = (
        "Ellipses over one circle, the steeper the larger alpha is. All meet on the x-axis, at the "
        f"headings 90 and 270 degrees. Heights are drawn {HEIGHT_SCALE:g} times as large."
    )
    ends = [case.motion.omega for case in rig_cases]
    table = _write_table(path, ("wx", "wy", "wz"), "rad_s", ends)
    return report.Still(path, "Figure 3a: end points of w", caption, table)


def _write_curves(folder: Path, plot: CurvePlot, values: Sequence[Array]) -> report.Still:
    """Write curves over the headings, a colour for each alpha, and the second quantity dashed.

    Args:
        folder: to write in.
        plot: titles and quantities.
        values: a column for each quantity, at each alpha (m, n).
    """
    path = folder / f"figure_{plot.title[:2]}.svg"
    with report.picture(path) as axes:
        for k, name in enumerate(plot.names):
            for alpha, columns, colour in zip(ALPHAS, values, COLOURS, strict=True):
                style, label = "--" if k else "-", f"{name}, alpha {alpha:g} deg"
                axes.plot(HEADINGS, columns[:, k], color=colour, ls=style, label=label)
        axes.set(xlabel=PHI, ylabel=plot.ylabel, xlim=(0.0, 360.0), xticks=QUARTERS)
        report.legend(axes)
    table = _write_table(path, plot.names, plot.unit, values)
    return report.Still(path, f"Figure {plot.title}", plot.caption, table)


def _write_table(path: Path, names: Sequence[str], unit: str, values: Sequence[Array]) -> Path:
    """Write the numbers of a figure beside it, and return their file."""
    table = {"phi_deg": HEADINGS}
    for alpha, columns in zip(ALPHAS, values, strict=True):
        for name, column in zip(names, columns.T):
            table[f"{name}_alpha_{alpha:g}_{unit}"] = column
    write_columns(path.with_suffix(".csv"), table)
    return path.with_suffix(".csv")

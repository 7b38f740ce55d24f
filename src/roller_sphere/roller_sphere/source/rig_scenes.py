"""The rig, the rollers' lines and w in space: the paper's figures 1 and 2 for any rig."""

from __future__ import annotations

import numpy as np
from roboaccord.contract.state import Array
from roboaccord.report.charts import Mark, Path, Scene
from roboaccord.report.colours import INK, SOFT
from roboaccord.report.scene_picture import EYE

from roller_sphere.model.kinematics import Kinematics
from roller_sphere.model.rig import Rig

COLOURS = ("#3366cc", "#12a594", "#8e7cc3", "#c9a227")  # of the rollers, in turn
OMEGA, SLIP = "#d1495b", "#ee7733"
WIDTH, THICKNESS = 0.28, 0.16  # of a roller as drawn, over the ball's radius
REACH = 1.5  # of the longest w as drawn, likewise
BEYOND = 0.35  # of the lines beyond what they lead to


def roller_scene(kinematics: Kinematics, heading: float, speed: float = 1.0) -> Scene:
    """Return figure 1: one roller, and the line on which it lets w end."""
    rig, nu = kinematics.rig, kinematics.inverse(speed, heading).nu
    shrink = _shrink(kinematics, nu)
    line = _line(kinematics, nu, 0, shrink, np.zeros(1))
    eta = _arrow(rig.contacts[0], 0.7 * rig.radius * rig.axes[0], COLOURS[0], "axis eta")
    surface = _arrow(rig.contacts[0], 0.7 * rig.radius * rig.directions[0], OMEGA, "direction e_i")
    foot = kinematics.lines(nu)[0][0] * shrink
    return Scene(
        "figure_1",
        "Figure 1: one roller",
        "It fixes the part of w along its axis, and leaves the part along P: w ends on the line.",
        [
            *_roller(rig, 0),
            eta,
            surface,
            line,
            Path(np.array([np.zeros(3), foot]), SOFT, "(nu/r) eta"),
        ],
        [Mark(rig.contacts[0], COLOURS[0], "P1"), Mark(np.zeros(3), INK, "O")],
        ball=rig.radius,
    )


def pair_scene(
    kinematics: Kinematics, heading: float, name: str, title: str, speed: float = 1.0
) -> Scene:
    """Return figure 2: all rollers with their lines, and w halfway between those of two.

    Args:
        kinematics: of the rig.
        heading: phi [rad].
        name, title: of the figure.
        speed: |V| [m/s].
    """
    rig, motion = kinematics.rig, kinematics.inverse(speed, heading)
    shrink, omega = _shrink(kinematics, motion.nu), motion.omega
    points, directions = kinematics.lines(motion.nu)
    # The point of each line that is nearest to w.
    along = np.einsum("ij,ij->i", omega - points, directions)
    feet = points + along[:, None] * directions
    paths = [path for i in range(rig.count) for path in _roller(rig, i)]
    for i in range(rig.count):
        paths.append(_line(kinematics, motion.nu, i, shrink, along[i : i + 1]))
        paths.append(Path(shrink * np.array([feet[i], omega]), SLIP, "from lines to w", 3.0))
    velocity = np.array([np.cos(heading), np.sin(heading), 0.0]) * 1.3 * rig.radius
    paths.append(Path(np.array([np.zeros(3), shrink * omega]), OMEGA, "w", 3.5))
    paths.append(_arrow(np.zeros(3), velocity, INK, "heading of V"))
    paths.append(_arrow(np.zeros(3), 1.2 * rig.radius * rig.pole, SOFT, "e"))
    marks = [Mark(p, COLOURS[i % 4], f"P{i + 1}") for i, p in enumerate(rig.contacts)]
    gap = np.linalg.norm(feet - omega, axis=1).max() * rig.radius
    return Scene(
        name,
        title,
        f"Along {np.degrees(heading):g} degrees. Each roller lets w end on its line; w is where "
        "the sum of the squared distances from the lines is least. The largest distance, times the "
        f"radius, is {gap:.4f} m/s: the slip.",
        paths,
        [*marks, Mark(shrink * omega, OMEGA, "w")],
        ball=rig.radius,
    )


def _shrink(kinematics: Kinematics, nu: Array) -> float:
    """Return what makes angular velocities lengths on the drawing [m s]."""
    ends = [np.linalg.norm(kinematics.omega(nu)), *np.abs(nu) / kinematics.rig.radius]
    return float(REACH * kinematics.rig.radius / max(ends))


def _line(kinematics: Kinematics, nu: Array, i: int, shrink: float, to: Array) -> Path:
    """Return the line of roller i, from beyond its start to beyond some of its places."""
    points, directions = kinematics.lines(nu)
    ends = shrink * np.concatenate([to, [0.0]])
    room = BEYOND * kinematics.rig.radius
    places = np.array([min(ends.min(), 0.0) - room, ends.max() + room])
    path = shrink * points[i] + places[:, None] * directions[i]
    return Path(path, COLOURS[i % 4], f"line {i + 1}", 2.0, dashed=True)


def _roller(rig: Rig, i: int) -> list[Path]:
    """Return a roller as a cylinder that touches the ball: two rims and ribs, and its axis."""
    r, axis, out = rig.radius, rig.axes[i], rig.normals[i]
    t = np.radians(np.arange(0.0, 361.0, 10.0))[:, None]
    middle = rig.contacts[i] + 0.5 * WIDTH * r * out
    rim = 0.5 * WIDTH * r * (np.cos(t) * out + np.sin(t) * np.cross(axis, out))
    half = 0.5 * THICKNESS * r * axis
    colour = COLOURS[i % 4]
    ribs = [np.array([middle + rim[k] - half, middle + rim[k] + half]) for k in range(0, 36, 6)]
    shapes = [middle + rim - half, middle + rim + half, *ribs]
    return [Path(points, colour, f"roller {i + 1}" if k == 0 else "", 1.4)
            for k, points in enumerate(shapes)]  # fmt: skip


def _arrow(start: Array, way: Array, colour: str, name: str) -> Path:
    """Return an arrow as one line that draws its head, too."""
    end, length = start + way, np.linalg.norm(way)
    side = np.cross(way, EYE)  # seen from there the head is broad
    side *= 0.05 * length / np.linalg.norm(side)
    back = end - 0.13 * way
    return Path(np.array([start, end, back + side, end, back - side]), colour, name, 2.2)

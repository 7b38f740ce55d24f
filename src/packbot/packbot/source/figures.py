"""The report's figures done again: hulls, the poses of the collapse, its joints, and figure 5."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import coal
import numpy as np
from roboaccord.contract.state import IDENTITY, ORIGIN, Array
from roboaccord.description.solids import facets
from roboaccord.description.tree import Tree
from roboaccord.report.charts import Chart, Curve, Scene, Solid
from roboaccord.report.colours import BLUE, GREEN, RED, SOFT
from roboaccord.scenario.setup import Setup
from roboaccord.view.scene import Scene as Stage

from packbot.contact.clearance import convex
from packbot.hulls.collisions import read_collisions
from packbot.hulls.environment import stand_around
from packbot.hulls.shapes import prism_corners
from packbot.hulls.solids import Hull
from packbot.model.arm import Arm
from packbot.source.collapse import PITCHES, Collapse, energies

Table = Mapping[str, Array]
TIME = "time [s]"
COLOURS = dict(zip(PITCHES, (BLUE, RED, GREEN), strict=True))
HUES = ("#3366cc", "#d1495b", "#12a594", "#e0a030", "#7d5ba6", "#5d6878", "#4f9fd0", "#c2773c")
AROUND = "#c9b48a"
THROUGH = 1.5  # s into the fall without contact, which figure 7 shows
RADII, LENGTH, SIDES = (0.05, 0.045), 0.12, 12  # of figure 5's prisms: the casings of the elbows
CORNER = 15.0  # degrees: direction of a corner of both prisms
GAPS = {"0.1 mm in overlap": -1e-4, "0.5 mm apart": 5e-4, "5 mm apart": 5e-3}


@dataclass(frozen=True)
class Collapses:
    """Hold the same collapse with each contact: along the normal, the report's, and none."""

    normal: Collapse
    joint_clamp: Collapse
    none: Collapse


def figures(setup: Setup, found: Collapses) -> list[tuple[Chart | Scene, Table]]:
    """Return each figure with its table, empty for a picture."""
    drive = setup.initial.q
    last = found.normal.trajectory
    through = found.none.trajectory
    index = int(np.searchsorted(through.time, min(THROUGH, through.time[-1])))
    return [
        (hulls_scene(setup, drive), {}),
        normals_chart(),
        (
            _pose(setup, drive, "6", "Drive pose", "From here the arm falls, without torques."),
            {},
        ),
        (
            _pose(setup, through.q[index], "7", "Result without collision",
                  f"After {through.time[index]:.1f} s the arm has fallen through the chassis."),
            {},
        ),
        (
            _pose(setup, last.q[-1], "8", "Static result with collision detection",
                  "Link 1 lies on the chassis; link 2 is propped up on the shoulder casing."),
            {},
        ),
        joints_chart(found, "9", "positions", "q"),
        joints_chart(found, "10", "velocities", "qd"),
        energy_chart(setup, found),
    ]  # fmt: skip


def solids_of(setup: Setup, q: Array) -> list[Solid]:
    """Return the hulls at the angles q (7,) [rad], and what stands around but the ground."""
    stage = Stage.parse(setup.urdf())
    origins, turns = stage.tree.forward(setup.joints, q, ORIGIN, IDENTITY)
    solids = [
        Solid(s.vertices @ turns[s.link].T + origins[s.link], s.faces, _hex(s.colour))
        for s in stage.shapes
    ]
    solids += [Solid(*solid, AROUND) for solid in stand_around(setup)]
    return solids


def hulls_scene(setup: Setup, q: Array) -> Scene:
    """Return figure 3: every hull in a colour of its own, and nothing that is drawn alone."""
    urdf = setup.urdf()
    tree = Tree.parse(urdf)
    names = [link.name for link in tree.links]
    origins, turns = tree.forward(setup.joints, q, ORIGIN, IDENTITY)
    solids = []
    for number, shape in enumerate(read_collisions(urdf)):
        hull, link = shape.hull, names.index(shape.link)
        place = hull.vertices @ turns[link].T + origins[link]
        solids.append(Solid(place, facets(hull.vertices, hull.faces), HUES[number % len(HUES)]))
    return Scene(
        "figure_3",
        "Figure 3: Packbot approximated by polyhedra",
        f"{len(solids)} convex hulls, {sum(len(s.vertices) for s in solids)} vertices.",
        solids=solids,
    )


def _pose(setup: Setup, q: Array, number: str, title: str, caption: str) -> Scene:
    return Scene(
        f"figure_{number}", f"Figure {number}: {title}", caption, solids=solids_of(setup, q)
    )


def joints_chart(found: Collapses, number: str, what: str, key: str) -> tuple[Chart, Table]:
    """Return figure 9 or 10: the joints that move in the plane."""
    curves, table = [], dict[str, Array]()
    for name, collapse in (("normal", found.normal), ("joint_clamp", found.joint_clamp)):
        run = collapse.trajectory
        table |= {} if table else {"time_s": run.time}
        for joint in PITCHES:
            values = getattr(run, key)[:, run.joints.index(joint)]
            dashed = name != "normal"
            word = f"{joint}, clamped" if dashed else joint
            curves.append(Curve(word, run.time, values, COLOURS[joint], dashed))
            table[f"{joint}_{name}"] = _to(len(table["time_s"]), values)
    unit = "rad" if key == "q" else "rad/s"
    chart = Chart(
        f"figure_{number}",
        f"Figure {number}: planar joint {what}",
        "Solid: contact along the normal. Dashed: the report's joint_clamp.",
        (TIME, f"{what} [{unit}]"),
        curves,
        turn=False,
    )
    return chart, table


def energy_chart(setup: Setup, found: Collapses) -> tuple[Chart, Table]:
    """Return the energy of each collapse, which nothing feeds."""
    arm = Arm.of(setup)
    runs = {"normal": found.normal, "joint_clamp": found.joint_clamp, "none": found.none}
    colours = {"normal": BLUE, "joint_clamp": RED, "none": SOFT}
    curves, table = [], {"time_s": found.normal.trajectory.time}
    for name, collapse in runs.items():
        values = energies(arm, collapse.trajectory)
        curves.append(Curve(name, collapse.trajectory.time, values, colours[name]))
        table[f"{name}_J"] = _to(len(table["time_s"]), values)
    chart = Chart(
        "energy",
        "Energy of the arm",
        "Kinetic and potential; friction of the joints and impacts can only lower it.",
        (TIME, "energy [J]"),
        curves,
        turn=False,
    )
    return chart, table


def normals_chart() -> tuple[Chart, Table]:
    """Return figure 5: how far the vector of minimum norm is off between prisms for cylinders.

    The second casing goes around the first; between round ones the vector would lie along the line
    of centres.
    """
    angles = CORNER + 0.01 * np.arange(-200.0, 201.0).astype(np.float64)
    curves, table = [], {"centres_deg": angles}
    for (name, gap), colour in zip(GAPS.items(), (RED, BLUE, SOFT), strict=True):
        off = normal_errors(np.radians(angles), gap)
        curves.append(Curve(name, angles, off, colour))
        table[name.replace(" ", "_")] = off
    chart = Chart(
        "figure_5",
        "Figure 5: error in the vector of minimum norm due to approximation",
        "Two casings as prisms of 12 sides, about a corner of one. Whatever the gap, the vector is "
        "off by up to half the angle between two faces. In overlap it jumps from face to face; "
        "apart it turns there steadily, which is why the reference keeps hulls apart by a margin.",
        ("direction of the line of centres [degrees]", "error of the vector [degrees]"),
        curves,
        turn=False,
    )
    return chart, table


def normal_errors(angles: Array, gap: float) -> Array:
    """Return by how much the normal between two casings is off [degrees].

    Args:
        angles: of the line of centres over the horizontal (m,) [rad].
        gap: between the prisms, negative in overlap [m].
    """
    first, second = (_Prism(radius) for radius in RADII)
    return np.array([_error(first, second, angle, gap) for angle in angles])


class _Prism:
    """Hold a casing for coal."""

    def __init__(self, radius: float) -> None:
        self.radius = radius
        self.shape = convex(Hull.around(prism_corners("y", radius, LENGTH, SIDES)))


def _error(first: _Prism, second: _Prism, angle: float, gap: float) -> float:
    """Return by how much the normal is off [degrees], at the distance of centres with a gap."""
    along = np.array([np.cos(angle), 0.0, np.sin(angle)])
    low, high = 0.5 * (first.radius + second.radius), 1.5 * (first.radius + second.radius)
    for _ in range(60):  # bisection: the distance grows with that of the centres
        middle = 0.5 * (low + high)
        distance, normal = _measure(first, second, middle * along)
        low, high = (middle, high) if distance < gap else (low, middle)
    return float(np.degrees(np.arctan2(normal[2], normal[0]) - angle))


def _measure(first: _Prism, second: _Prism, shift: Array) -> tuple[float, Array]:
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    request.gjk_tolerance = request.epa_tolerance = 1e-9
    coal.distance(
        first.shape, coal.Transform3s(), second.shape, coal.Transform3s(np.eye(3), shift),
        request, result,
    )  # fmt: skip
    return result.min_distance, np.array(result.normal)


def _to(count: int, values: Array) -> Array:
    """Return values (m,) cut or filled with NaN to `count` rows."""
    return np.concatenate([values[:count], np.full(max(0, count - len(values)), np.nan)])


def _hex(colour: Sequence[float] | Array) -> str:
    return "#" + "".join(f"{round(255 * float(part)):02x}" for part in colour)

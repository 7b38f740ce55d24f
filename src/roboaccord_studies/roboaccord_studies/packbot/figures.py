"""Figures of the source report (Hall 2010, figures 1 to 3 and 5 to 10), drawn again.

They show the Packbot's arm, its joints, its convex hulls, and its collapse, a fall without torque.
Figure 5 shows the error of the normal between two casings of joints if they are modelled as prisms
instead of cylinders. `write_figures` draws all of them from three collapses with different contact
laws, which `accord packbot figures` (cli/figures.py) runs.

The figures and their titles follow the report; colours, AXIS_LENGTH, CORNER_ANGLE and GAPS may be
changed (test_drawn).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import coal
import numpy as np
from packbot.contact.clearance import convex
from packbot.contact.collisions import drawn_obstacles, read_collisions
from packbot.contact.solids import Hull, prism_corners
from packbot.model.arm import Arm
from packbot.model.parameters import pose
from packbot.source.collapse import PITCHES, Collapse, energies
from roboaccord import report
from roboaccord.contract import IDENTITY, ORIGIN, Array
from roboaccord.description import Scene, facets
from roboaccord.scenario import Setup

from roboaccord_studies import drawing
from roboaccord_studies.drawing import Curve, DrawnSolid, write_curves

TIME = "time [s]"  # label of axes
# Colours of the joints' curves.
COLOURS = dict(zip(PITCHES, (report.BLUE, report.RED, report.GREEN), strict=True))
HUES = ("#3366cc", "#d1495b", "#12a594", "#e0a030", "#7d5ba6", "#5d6878", "#4f9fd0", "#c2773c")
OBSTACLE_COLOUR = "#c9b48a"  # colour of obstacles
AXIS_LENGTH = 0.12  # m; length of a joint axis in the drawing, by eye
# s; time in the fall without contact that figure 7 shows, by eye: arms are far through each other.
THROUGH_TIME = 1.5
# m; of the casings of elbows 1 and 2, in figure 5: the radii elbow1_casing_radius and
# elbow2_casing_radius of config/parameters.yaml, and a length by eye, on which nothing depends
CASING_RADII, CASING_LENGTH = (0.05, 0.045), 0.12
PRISM_SIDES = 12  # of the prisms of figure 5: so few that their corners are seen
# Number of bisections for the distance of the casings, down to rounding: 2^-60 is below eps.
BISECTIONS = 60
CORNER_ANGLE = 15.0  # degrees; direction of a corner of both prisms: 360 / 12 / 2
LAWS = ("contact along the normal", "the report's joint_clamp", "without collision")  # of CONTACTS
# m; gaps between the prisms of figure 5: one in overlap, one near and one far.
GAPS = {"0.1 mm in overlap": -1e-4, "0.5 mm apart": 5e-4, "5 mm apart": 5e-3}


def write_figures(setup: Setup, runs: Mapping[str, Collapse], folder: Path) -> list[report.Still]:
    """Write each figure as SVG, and the curves as CSV.

    Args:
        setup: robot and scenario; its initial pose is the drive position.
        runs: collapses by contact law, as in CONTACTS of `packbot.source.collapse`.
        folder: for the files.

    Returns:
        the figures in the order of the report.
    """
    drive = setup.initial.q
    final_q, through = runs["normal"].trajectory.q[-1], runs["none"].trajectory
    index = int(np.searchsorted(through.time, min(THROUGH_TIME, through.time[-1])))
    caption_1 = "The shapes of the description, ready to reach."
    caption_7 = f"After {through.time[index]:.1f} s the arm has fallen through the chassis."
    caption_8 = "Link 1 lies on the chassis; link 2 is propped up on the shoulder casing."

    def write_pose(q: Array, number: str, title: str, caption: str) -> report.Still:
        """Write a figure of the arm at the angles q (7,) [rad]."""
        return _write_solids(solids_of(setup, q), folder, number, title, caption)

    return [
        write_pose(pose("ready"), "1", "The arm on its chassis", caption_1),
        write_joint_axes(setup, drive, folder),
        write_hulls(setup, drive, folder),
        write_normals(folder),
        write_pose(drive, "6", "Drive position", "From here the arm falls, without torques."),
        write_pose(through.q[index], "7", "Result without collision", caption_7),
        write_pose(final_q, "8", "Static result with collision detection", caption_8),
        write_joints(runs, folder, "9", "position [rad]", "q"),
        write_joints(runs, folder, "10", "velocity [rad/s]", "qd"),
        write_energy(setup, runs, folder),
    ]


def solids_of(setup: Setup, q: Array) -> list[DrawnSolid]:
    """Return the hulls at the angles q (7,) [rad], and the obstacles without the ground."""
    scene = Scene.parse(setup.urdf())
    origins, turns = scene.tree.forward(setup.joints, q, ORIGIN, IDENTITY)
    solids = list[DrawnSolid]()
    for shape in scene.shapes:
        vertices = shape.vertices @ turns[shape.link].T + origins[shape.link]
        colour = "#" + "".join(f"{round(255 * float(value)):02x}" for value in shape.colour)
        solids.append(DrawnSolid(vertices, shape.faces, colour))
    return [
        *solids,
        *(DrawnSolid(*obstacle, OBSTACLE_COLOUR) for obstacle in drawn_obstacles(setup)),
    ]


def _write_solids(
    solids: list[DrawnSolid], folder: Path, number: str, title: str, caption: str
) -> report.Still:
    """Write a figure of solids."""
    path = folder / f"figure_{number}.svg"
    with report.picture(path, report.SQUARE) as axes:
        drawing.draw_solids(axes, solids)
        report.bare(axes)
    return report.Still(path, f"Figure {number}: {title}", caption)


def write_joint_axes(setup: Setup, q: Array, folder: Path) -> report.Still:
    """Write figure 2: the frames of the dynamic model, and the axes about which its joints turn."""
    tree = setup.tree
    origins, turns = tree.forward(setup.joints, q, ORIGIN, IDENTITY)
    names = [link.name for link in tree.links]
    moving = [(names.index(joint.child), joint) for joint in tree.moving]
    path = folder / "figure_2.svg"
    with report.picture(path, report.SQUARE) as axes:
        for solid in solids_of(setup, q):
            edges = set[tuple[int, int]]()  # pairs of vertices, the smaller index first
            for face in solid.faces:
                edges |= {(min(pair), max(pair)) for pair in zip(face, np.roll(face, -1).tolist())}
            # One line for all edges, interrupted by NaN.
            corners = np.insert(solid.vertices[np.array(sorted(edges))], 2, np.nan, axis=1)
            drawing.line(axes, corners.reshape(-1, 3), report.RULE, lw=0.7)
        centres = np.array([origins[k] for k, _ in moving])
        drawing.line(axes, centres, report.INK, lw=1.6, marker="o")
        dots = []
        for k, joint in moving:
            arrow = AXIS_LENGTH * (turns[k] @ joint.axis)
            drawing.arrow(axes, origins[k], arrow, report.RED)
            dots.append(tuple(drawing.see(origins[k] + arrow)[:2]))
        report.bare(axes)
        report.label_dots(axes, dots, [joint.name for _, joint in moving])
    caption = "The seven joints and the axes about which they turn; pale, the hulls that collide."
    return report.Still(path, "Figure 2: Dynamic model with colliding joints", caption)


def write_hulls(setup: Setup, q: Array, folder: Path) -> report.Still:
    """Write figure 3: every hull in a colour of its own, and nothing that is drawn alone."""
    tree = setup.tree
    names = [link.name for link in tree.links]
    origins, turns = tree.forward(setup.joints, q, ORIGIN, IDENTITY)
    solids = []
    for number, shape in enumerate(read_collisions(setup.urdf())):
        hull, link = shape.hull, names.index(shape.link)
        corners = hull.vertices @ turns[link].T + origins[link]
        faces = facets(hull.vertices, hull.faces)
        solids.append(DrawnSolid(corners, faces, HUES[number % len(HUES)]))
    caption = f"{len(solids)} convex hulls, {sum(len(s.vertices) for s in solids)} vertices."
    return _write_solids(solids, folder, "3", "Packbot approximated by polyhedra", caption)


def write_joints(
    runs: Mapping[str, Collapse], folder: Path, number: str, quantity: str, key: str
) -> report.Still:
    """Write figure 9 or 10: the joints that move in the plane.

    Args:
        runs: collapses by contact law.
        folder: for the files.
        number: of the figure.
        quantity: that is drawn, with its unit.
        key: `q` or `qd`, the field of the trajectory.
    """
    curves = []
    plural = {"q": "positions", "qd": "velocities"}[key]
    for law, suffix, dashes in (("normal", "", "-"), ("joint_clamp", ", clamped", "--")):
        run = runs[law].trajectory
        for joint, values in zip(run.joints, getattr(run, key).T, strict=True):
            if joint in PITCHES:
                label, column = joint + suffix, f"{joint}_{law}"
                curves.append(Curve(label, column, run.time, values, COLOURS[joint], dashes))
    path, title = folder / f"figure_{number}.svg", f"Figure {number}: Planar joint {plural}"
    caption = "Solid: contact along the normal. Dashed: the report's joint_clamp."
    still = report.Still(path, title, caption)
    return write_curves(still, "time_s", curves, TIME, f"joint {quantity}", 3)


def write_energy(setup: Setup, runs: Mapping[str, Collapse], folder: Path) -> report.Still:
    """Write the energy of each collapse, in which no effort does work."""
    arm, curves = Arm.of(setup), list[Curve]()
    colours = (report.BLUE, report.RED, report.SOFT)
    for law, label, colour in zip(runs, LAWS, colours, strict=True):
        run = runs[law].trajectory
        curves.append(Curve(label, f"{law}_J", run.time, energies(arm, run), colour))
    caption = "Kinetic and potential; friction of the joints and impacts can only lower it."
    still = report.Still(folder / "energy.svg", "Energy of the arm", caption)
    return write_curves(still, "time_s", curves, TIME, "energy [J]")


def write_normals(folder: Path) -> report.Still:
    """Write figure 5: how far the vector of minimum norm is off between prisms for cylinders.

    The second casing goes around the first; between round ones the vector would lie along the line
    of centres.
    """
    angles = CORNER_ANGLE + 0.01 * np.arange(-200.0, 201.0).astype(np.float64)
    curves, colours = list[Curve](), (report.RED, report.BLUE, report.SOFT)
    for name, colour in zip(GAPS, colours, strict=True):
        errors = normal_errors(np.radians(angles), GAPS[name])
        curves.append(Curve(name, name.replace(" ", "_"), angles, errors, colour))
    still = report.Still(
        folder / "figure_5.svg",
        "Figure 5: Error in vector of minimum norm due to approximation of smooth geometry",
        "Two casings as prisms of 12 sides, about a corner of one. Whatever the gap, the vector is "
        "off by up to half the angle between two faces. In overlap it jumps from face to face; "
        "apart it turns there steadily, which is why the reference keeps hulls apart by a margin.",
    )
    xlabel = "direction of the line of centres [degrees]"
    ylabel = "error in vector of minimum norm [degrees]"
    return write_curves(still, "centres_deg", curves, xlabel, ylabel)


def normal_errors(angles: Array, gap: float) -> Array:
    """Return by how much the normal between two casings is off [degrees].

    Args:
        angles: of the line of centres over the horizontal (m,) [rad].
        gap: between the prisms, negative in overlap [m].
    """
    prisms = [prism_corners("y", r, CASING_LENGTH, PRISM_SIDES) for r in CASING_RADII]
    first, second = (convex(Hull.around(corners)) for corners in prisms)
    return np.array([_normal_error(first, second, angle, gap) for angle in angles])


def _normal_error(first: coal.Convex, second: coal.Convex, angle: float, gap: float) -> float:
    """Return by how much the normal between two prisms is off [degrees].

    The distance of their centres at which the prisms have the gap is found by bisection: the gap
    grows with that distance.

    Args:
        first, second: the prisms, about the origin.
        angle: of the line of centres over the horizontal [rad].
        gap: between the prisms, negative in overlap [m].
    """
    direction = np.array([np.cos(angle), 0.0, np.sin(angle)])
    low, high = 0.5 * sum(CASING_RADII), 1.5 * sum(CASING_RADII)
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        request, distance = coal.DistanceRequest(), coal.DistanceResult()
        request.gjk_tolerance = request.epa_tolerance = 1e-9
        placement = coal.Transform3s(np.eye(3), middle * direction)
        coal.distance(first, coal.Transform3s(), second, placement, request, distance)
        if distance.min_distance < gap:
            low = middle
        else:
            high = middle
    return float(np.degrees(np.arctan2(distance.normal[2], distance.normal[0]) - angle))

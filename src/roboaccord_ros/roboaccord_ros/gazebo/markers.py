"""Draws the reference robot beside the simulated one in Gazebo's own window, as markers.

The reference is the second simulation that a cross-check compares the run with. Each visual of its
robot (a URDF shape with a colour) is one marker: a shape that the window's MarkerManager draws at a
pose. The window keeps what a message leaves out, so shapes and colours are sent once, and only
poses after that. The service SERVICE takes no mesh files, so a mesh is sent as its triangles. The
colours are those of `Look`, which shows by colour how well both agree.

Markers go to the window alone, never to the server that simulates. RETRY, SETTLING, GLOW and
PATIENCE may be tuned; a window that does not answer costs PATIENCE once in RETRY.
"""

from __future__ import annotations

import math
import time
import xml.etree.ElementTree as ET
from dataclasses import replace

from roboaccord.bag import Look
from roboaccord.contract import AccordError, RobotState
from roboaccord.description import Geometry, mesh_path, read_geometry, read_mesh
from roboaccord.numerics import matrix_quaternion, quaternion_product
from roboaccord.scenario import Setup

from roboaccord_ros.gazebo.transport import Message, load, message

SERVICE = "/marker_array"  # service of gz-gui's MarkerManager that takes several markers
NAMESPACE = "reference"  # of the markers, so that only these are deleted
# Type of a marker by the form of a URDF geometry.
FORMS = {"box": "BOX", "cylinder": "CYLINDER", "sphere": "SPHERE", "mesh": "TRIANGLE_LIST"}
RETRY = 0.5  # s of wall time; between two searches for a window
SETTLING = 3.0  # s; until the first search, which would wait for gz-transport's discovery earlier
# Share of a colour that is emitted, times its opacity: emitted light looks opaque. Any from 0.5 to
# 0.9 would do.
GLOW = 0.7
# ms; for the answer of a window to markers: one picture at 20 a second, so a window that hangs
# slows a run by a tenth (once in RETRY).
PATIENCE = 50


class WindowMarkers:
    """A second robot in Gazebo's window, if a window is open; each visual is a marker.

    Args:
        setup: robot and scenario.
    """

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._shapes = list[tuple[int, Geometry]]()  # of each marker: index of its link, geometry
        self._drawn_state: RobotState | None = None  # the run's newest state at the last drawing
        # Colours that the markers have in the window; None while the window has no markers.
        self._drawn_colours: tuple[float, str] | None = None
        self._next_search = time.monotonic() + SETTLING  # for a window [s of the steady clock]
        try:
            self._batch = message("Marker_V")()  # all markers in one message
            self._answer = message("Boolean")
            self._node = load("transport").Node()
        except AccordError:  # without bindings the run goes on, and nothing is drawn
            self._next_search = math.inf

    def show(self, state: RobotState, run: RobotState, now: RobotState, look: Look) -> None:
        """Draw the second robot beside the newest state of the run.

        The second robot is some states behind, so its deviation from the run at the same time is
        added to the run's newest state.

        Args:
            state: newest state of the second robot.
            run: state of the run at the time of `state`.
            now: newest state of the run, which the window shows.
            look: colours of the second robot.
        """
        if (now is self._drawn_state and look.colours == self._drawn_colours) or not self._open():
            return
        present = _with_deviation(state, run, now)
        if look.colours != self._drawn_colours:
            self._paint(look)
        # Poses of all links, then of each marker on its link.
        pose = (self._setup.joints, present.q, present.position, present.orientation)
        origins, turns = self._setup.tree.forward(*pose)
        for marker, (link, form) in zip(self._batch.marker, self._shapes, strict=True):
            position, turn = marker.pose.position, marker.pose.orientation
            position.x, position.y, position.z = origins[link] + turns[link] @ form.position
            turn.x, turn.y, turn.z, turn.w = matrix_quaternion(turns[link] @ form.rotation)
        self._send()
        # Later messages carry poses alone.
        for marker in self._batch.marker:
            marker.ClearField("point")
            marker.ClearField("material")
        self._drawn_state, self._drawn_colours = now, look.colours

    def remove(self) -> None:
        """Remove the robot from the window."""
        if self._drawn_colours is not None and self._node.service_info(SERVICE):
            self._clear()
        self._drawn_state = self._drawn_colours = None

    def _clear(self) -> None:
        """Delete all markers of the window."""
        self._batch.Clear()
        self._batch.marker.add(ns=NAMESPACE, action="DELETE_ALL")
        self._send()

    def _open(self) -> bool:
        """Return whether there is a window that takes markers."""
        if time.monotonic() < self._next_search:
            return False
        if not self._node.service_info(SERVICE):
            self._next_search, self._drawn_colours = time.monotonic() + RETRY, None
            return False
        return True

    def _send(self) -> None:
        """Send the markers; a window that is slow to answer is not asked again for RETRY."""
        kind = type(self._batch)
        answered, _ = self._node.request(SERVICE, self._batch, kind, self._answer, PATIENCE)
        if not answered:
            self._next_search = time.monotonic() + RETRY

    def _paint(self, look: Look) -> None:
        """Set the markers' colours; for a window without markers, create them with their shapes."""
        root = ET.fromstring(look.paint(self._setup.urdf()))
        links = {element.get("name"): element for element in root.iter("link")}
        colours = list[list[float]]()  # red, green, blue and opacity of each marker
        is_new = self._drawn_colours is None
        if is_new:
            self._clear()  # markers of an earlier run
            self._batch.Clear()
            self._shapes.clear()
        for index, link in enumerate(self._setup.tree.links):
            for visual in links[link.name].findall("visual"):
                form, material = read_geometry(visual), visual.find("material/color")
                if form.form not in FORMS or material is None:
                    continue
                colours.append([float(word) for word in material.get("rgba", "").split()])
                if is_new:
                    self._shapes.append((index, form))
                    _fill(self._batch.marker.add(ns=NAMESPACE, id=len(colours)), form)
        # The same colour in each kind of light.
        for marker, rgba in zip(self._batch.marker, colours, strict=True):
            for light, share in (("ambient", 1.0), ("diffuse", 1.0), ("emissive", GLOW * rgba[3])):
                colour = dict(zip("rgb", (share * value for value in rgba), strict=False))
                getattr(marker.material, light).MergeFrom(message("Color")(**colour, a=rgba[3]))


def _fill(marker: Message, form: Geometry) -> None:
    """Set the shape and size of a marker; a mesh becomes the corners of its triangles."""
    marker.type = marker.Type.Value(FORMS[form.form])
    diameter = 2.0 * form.radius
    sizes = {"box": form.size.tolist(), "mesh": form.scale.tolist(), "sphere": 3 * [diameter]}
    size = marker.scale
    size.x, size.y, size.z = sizes.get(form.form, [diameter, diameter, form.length])
    if form.form == "mesh":
        vertices, triangles = read_mesh(mesh_path(form.file))
        for corner in vertices[triangles].reshape(-1, 3).tolist():
            marker.point.add(**dict(zip("xyz", corner, strict=True)))


def _with_deviation(state: RobotState, run: RobotState, now: RobotState) -> RobotState:
    """Return `now` plus the deviation of `state` from `run`.

    Joints and position add; the deviation in orientation is state * run^-1 (unit quaternions, whose
    inverse is the conjugate).
    """
    turn = quaternion_product(state.orientation, run.orientation * (-1.0, -1.0, -1.0, 1.0))
    return replace(
        now,
        q=now.q + state.q - run.q,
        position=now.position + state.position - run.position,
        orientation=quaternion_product(turn, now.orientation),
    )

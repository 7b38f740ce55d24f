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

from roboaccord_ros.gazebo.transport import Message, gazebo_module, message_class

SERVICE = "/marker_array"  # service of gz-gui's MarkerManager that takes several markers
NAMESPACE = "reference"  # of the markers, so that only these are deleted
# Type of a marker, by the form of a URDF geometry.
MARKER_TYPES = {"box": "BOX", "cylinder": "CYLINDER", "sphere": "SPHERE", "mesh": "TRIANGLE_LIST"}
# s of wall time between two searches for a window: a person who opens one hardly waits, and a
# window that hangs costs a tenth of the time (PATIENCE).
RETRY = 0.5
# s of wall time until the first search, which would wait for gz-transport's discovery earlier.
SETTLING = 3.0
# Fraction of a colour that is emitted, times its opacity: emitted light looks opaque. Any from 0.5
# to 0.9 would do.
GLOW = 0.7
# ms: longest wait for the answer of a window to markers: one picture at 20 a second, so a window
# that hangs slows a run by a tenth (once in RETRY).
PATIENCE = 50


class WindowMarkers:
    """The reference robot in Gazebo's window, if a window is open; each visual is a marker.

    Args:
        setup: robot and scenario.
    """

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        # Of each marker, in the order of those in `_batch`: index of its link, geometry. Both are
        # made anew for a window without markers.
        self._shapes = list[tuple[int, Geometry]]()
        self._drawn_state: RobotState | None = None  # the run's newest state at the last drawing
        # Colours that the markers have in the window; None while the window has no markers.
        self._drawn_colours: tuple[float, str] | None = None
        self._next_search = time.monotonic() + SETTLING  # for a window [s of the steady clock]
        try:
            self._batch = message_class("Marker_V")()  # all markers in one message
            self._answer = message_class("Boolean")
            self._node = gazebo_module("transport").Node()
        except AccordError:  # without bindings the run goes on, and nothing is drawn
            self._next_search = math.inf

    def show(self, reference: RobotState, past: RobotState, newest: RobotState, look: Look) -> None:
        """Draw the reference beside the newest state of the run.

        The reference is some states behind, so its deviation from the run at the same time is
        added to the run's newest state.

        Args:
            reference: newest state of the reference.
            past: state of the run at the time of `reference`.
            newest: newest state of the run, which the window shows.
            look: colours of the reference.
        """
        is_drawn = newest is self._drawn_state and look.colours == self._drawn_colours
        if is_drawn or not self._is_window_open():
            return
        if look.colours != self._drawn_colours:
            self._paint(look)
        self._set_poses(_with_deviation(reference, past, newest))
        self._send()
        # Later messages carry poses alone.
        for marker in self._batch.marker:
            marker.ClearField("point")
            marker.ClearField("material")
        self._drawn_state, self._drawn_colours = newest, look.colours

    def remove(self) -> None:
        """Remove the robot from the window."""
        if self._drawn_colours is not None and self._node.service_info(SERVICE):
            self._delete_all()
        self._drawn_state = self._drawn_colours = None

    def _is_window_open(self) -> bool:
        """Return whether there is a window that takes markers; it is searched once in RETRY."""
        if time.monotonic() < self._next_search:
            return False
        if not self._node.service_info(SERVICE):
            self._next_search, self._drawn_colours = time.monotonic() + RETRY, None
            return False
        return True

    def _paint(self, look: Look) -> None:
        """Set the markers' colours; for a window without markers, create them with their shapes."""
        root = ET.fromstring(look.paint(self._setup.urdf()))
        links = {element.get("name"): element for element in root.iter("link")}
        colours = list[list[float]]()  # red, green, blue and opacity of each marker
        is_new = self._drawn_colours is None
        if is_new:
            self._delete_all()  # markers of an earlier run
            self._batch.Clear()
            self._shapes.clear()
        for index, link in enumerate(self._setup.tree.links):
            for visual in links[link.name].findall("visual"):
                shape, colour = read_geometry(visual), visual.find("material/color")
                if shape.form not in MARKER_TYPES or colour is None:
                    continue
                colours.append([float(word) for word in colour.get("rgba", "").split()])
                if is_new:
                    self._shapes.append((index, shape))
                    _set_shape(self._batch.marker.add(ns=NAMESPACE, id=len(colours)), shape)
        for marker, rgba in zip(self._batch.marker, colours, strict=True):
            _set_colour(marker, rgba)

    def _set_poses(self, state: RobotState) -> None:
        """Set the pose of each marker to that of its shape on its link, in a state of the robot."""
        pose = (self._setup.joints, state.q, state.position, state.orientation)
        origins, rotations = self._setup.tree.forward(*pose)
        for marker, (link, shape) in zip(self._batch.marker, self._shapes, strict=True):
            position, turn = marker.pose.position, marker.pose.orientation
            position.x, position.y, position.z = origins[link] + rotations[link] @ shape.position
            turn.x, turn.y, turn.z, turn.w = matrix_quaternion(rotations[link] @ shape.rotation)

    def _delete_all(self) -> None:
        """Delete all markers of the window."""
        self._batch.Clear()
        self._batch.marker.add(ns=NAMESPACE, action="DELETE_ALL")
        self._send()

    def _send(self) -> None:
        """Send the markers; a window that is slow to answer is not asked again for RETRY."""
        kind = type(self._batch)
        is_answered, _ = self._node.request(SERVICE, self._batch, kind, self._answer, PATIENCE)
        if not is_answered:
            self._next_search = time.monotonic() + RETRY


def _set_shape(marker: Message, shape: Geometry) -> None:
    """Set the shape and size of a marker; a mesh becomes the corners of its triangles."""
    marker.type = marker.Type.Value(MARKER_TYPES[shape.form])
    diameter = 2.0 * shape.radius
    sizes = {"box": shape.size.tolist(), "mesh": shape.scale.tolist(), "sphere": 3 * [diameter]}
    cylinder = [diameter, diameter, shape.length]
    marker.scale.x, marker.scale.y, marker.scale.z = sizes.get(shape.form, cylinder)
    if shape.form == "mesh":
        vertices, triangles = read_mesh(mesh_path(shape.file))
        for corner in vertices[triangles].reshape(-1, 3).tolist():
            marker.point.add(**dict(zip("xyz", corner, strict=True)))


def _set_colour(marker: Message, rgba: list[float]) -> None:
    """Set the colour of a marker, the same in each kind of light; emitted light is weaker."""
    for light, share in (("ambient", 1.0), ("diffuse", 1.0), ("emissive", GLOW * rgba[3])):
        red, green, blue = (share * value for value in rgba[:3])
        colour = message_class("Color")(r=red, g=green, b=blue, a=rgba[3])
        getattr(marker.material, light).MergeFrom(colour)


def _with_deviation(reference: RobotState, past: RobotState, newest: RobotState) -> RobotState:
    """Return the newest state of a run plus the deviation of `reference` from `past`.

    Joints and position add; the deviation in orientation is reference * past^-1 (unit
    quaternions, whose inverse is the conjugate).
    """
    inverse = past.orientation * (-1.0, -1.0, -1.0, 1.0)
    deviation = quaternion_product(reference.orientation, inverse)
    orientation = quaternion_product(deviation, newest.orientation)
    position = newest.position + reference.position - past.position
    q = newest.q + reference.q - past.q
    return replace(newest, q=q, position=position, orientation=orientation)

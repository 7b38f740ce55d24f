"""The reference beside the robot in Gazebo's own window: markers that the window draws.

Each visual of the robot is a marker. The window keeps what a message leaves out, so triangles and
colours are sent once, and only poses after that. Markers have no meshes in SERVICE of Gazebo's
window (MarkerManager of gz-gui), so meshes are sent as triangles. Colours are those of `Look`.

RETRY, SETTLING, GLOW and PATIENCE may be tuned: a window that does not answer costs PATIENCE once
in RETRY. Nothing here reaches the server, which simulates.
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

SERVICE = "/marker_array"
NAMESPACE = "reference"  # of the markers
# Type of a marker by the form of a geometry.
FORMS = {"box": "BOX", "cylinder": "CYLINDER", "sphere": "SPHERE", "mesh": "TRIANGLE_LIST"}
RETRY = 0.5  # until a window is looked for again [s of wall time]
SETTLING = 3.0  # until the first look [s]: earlier it would wait for gz-transport's discovery
GLOW = 0.7  # share of a colour that is emitted; scaled by opacity, for what glows is opaque
PATIENCE = 50  # for the answer of a window to markers [ms]


class WindowMarkers:
    """A robot shown in Gazebo's window, if there is one; each visual is a marker.

    Args:
        setup: robot and scenario.
    """

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._forms = list[tuple[int, Geometry]]()  # of the markers: index of the link, form
        self._shown: RobotState | None = None  # newest state of the run when it was drawn last
        self._painted: tuple[float, str] | None = None  # its colours; None without markers
        self._next = time.monotonic() + SETTLING  # when a window is looked for [steady clock, s]
        try:
            self._batch = load("gz.msgs10.marker_v_pb2").Marker_V()  # all markers in one message
            self._answer = message("Boolean")
            self._node = load("gz.transport13").Node()
        except AccordError:  # without bindings the run goes on, and nothing is drawn
            self._next = math.inf

    def show(self, state: RobotState, run: RobotState, now: RobotState, look: Look) -> None:
        """Show the robot, moved from its state to the present by the motion of the run.

        Args:
            state, run: of the robot and of the run at the same time.
            now: newest state of the run, which the window shows.
            look: colours of the robot.
        """
        if (now is self._shown and look.colours == self._painted) or not self._open():
            return
        present = _carried(state, run, now)
        if look.colours != self._painted:
            self._paint(look)
        pose = (self._setup.joints, present.q, present.position, present.orientation)
        origins, turns = self._setup.tree.forward(*pose)
        for marker, (link, form) in zip(self._batch.marker, self._forms, strict=True):
            position, turn = marker.pose.position, marker.pose.orientation
            position.x, position.y, position.z = origins[link] + turns[link] @ form.position
            turn.x, turn.y, turn.z, turn.w = matrix_quaternion(turns[link] @ form.rotation)
        self._send()
        for marker in self._batch.marker:
            marker.ClearField("point")
            marker.ClearField("material")
        self._shown, self._painted = now, look.colours

    def remove(self) -> None:
        """Remove the robot from the window."""
        if self._painted is not None and self._node.service_info(SERVICE):
            self._clear()
        self._shown = self._painted = None

    def _clear(self) -> None:
        """Delete all markers of the window."""
        self._batch.Clear()
        self._batch.marker.add(ns=NAMESPACE, action="DELETE_ALL")
        self._send()

    def _open(self) -> bool:
        """Return whether there is a window that takes markers."""
        if time.monotonic() < self._next:
            return False
        if not self._node.service_info(SERVICE):
            self._next, self._painted = time.monotonic() + RETRY, None
            return False
        return True

    def _send(self) -> None:
        """Send the markers; a window that is slow to answer is not asked again for RETRY."""
        kind = type(self._batch)
        answered, _ = self._node.request(SERVICE, self._batch, kind, self._answer, PATIENCE)
        if not answered:
            self._next = time.monotonic() + RETRY

    def _paint(self, look: Look) -> None:
        """Set the colours of a look, and for a new window the forms."""
        root = ET.fromstring(look.paint(self._setup.urdf()))
        links = {element.get("name"): element for element in root.iter("link")}
        colours = list[list[float]]()
        is_new = self._painted is None
        if is_new:
            self._clear()  # markers of an earlier run
            self._batch.Clear()
            self._forms.clear()
        for index, link in enumerate(self._setup.tree.links):
            for visual in links[link.name].findall("visual"):
                form, material = read_geometry(visual), visual.find("material/color")
                if form.form not in FORMS or material is None:
                    continue
                colours.append([float(word) for word in material.get("rgba", "").split()])
                if is_new:
                    self._forms.append((index, form))
                    _fill(self._batch.marker.add(ns=NAMESPACE, id=len(colours)), form)
        for marker, rgba in zip(self._batch.marker, colours, strict=True):
            for light, share in (("ambient", 1.0), ("diffuse", 1.0), ("emissive", GLOW * rgba[3])):
                colour = dict(zip("rgb", (share * value for value in rgba), strict=False))
                getattr(marker.material, light).MergeFrom(message("Color")(**colour, a=rgba[3]))


def _fill(marker: Message, form: Geometry) -> None:
    """Set the form and size of a marker, of a mesh all triangles."""
    marker.type = marker.Type.Value(FORMS[form.form])
    diameter = 2.0 * form.radius
    sizes = {"box": form.size.tolist(), "mesh": form.scale.tolist(), "sphere": 3 * [diameter]}
    size = marker.scale
    size.x, size.y, size.z = sizes.get(form.form, [diameter, diameter, form.length])
    if form.form == "mesh":
        vertices, triangles = read_mesh(mesh_path(form.file))
        for corner in vertices[triangles].reshape(-1, 3).tolist():
            marker.point.add(**dict(zip("xyz", corner, strict=True)))


def _carried(state: RobotState, run: RobotState, now: RobotState) -> RobotState:
    """Return the state that differs from `now` as `state` differs from `run`."""
    turn = quaternion_product(state.orientation, run.orientation * (-1.0, -1.0, -1.0, 1.0))
    return replace(
        now,
        q=now.q + state.q - run.q,
        position=now.position + state.position - run.position,
        orientation=quaternion_product(turn, now.orientation),
    )

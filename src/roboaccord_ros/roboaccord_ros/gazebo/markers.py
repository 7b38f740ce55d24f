"""The reference beside the robot in Gazebo's own window: markers that the window draws.

NAMESPACE, AGAIN, SETTLING, GLOW and PATIENCE may be tuned: a window that does not answer costs
PATIENCE once in AGAIN. Colours are those of `Look`. SERVICE and what a marker may hold are Gazebo's
(MarkerManager of gz-gui): it has no meshes, and keeps what a message leaves out, so triangles and
colours are sent once and poses after that. Nothing here reaches the server, which simulates.
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
NAMESPACE = "reference"
FORMS = {"box": "BOX", "cylinder": "CYLINDER", "sphere": "SPHERE", "mesh": "TRIANGLE_LIST"}
AGAIN = 0.5  # s of wall time until a window is looked for again
SETTLING = 3.0  # s until the first look, which would wait for gz-transport's discovery
GLOW = 0.7  # of its colour, without light; what glows Gazebo does not make translucent
PATIENCE = 50  # ms that a window may take to note markers


class WindowMarkers:
    """Show a robot in Gazebo's window, if there is one; a marker for each visual.

    Args:
        setup: robot and scenario.
    """

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._places = list[tuple[int, Geometry]]()  # of the markers: index of the link, form
        self._shown: RobotState | None = None
        self._painted: tuple[float, str] | None = None  # None where the window has no markers
        self._next = time.monotonic() + SETTLING
        try:
            self._batch = load("gz.msgs10.marker_v_pb2").Marker_V()
            self._answer = message("Boolean")
            self._node = load("gz.transport13").Node()
        except AccordError:  # without bindings the run goes on
            self._next = math.inf

    def show(self, there: RobotState, run: RobotState, now: RobotState, look: Look) -> None:
        """Show the robot as far from the run as it was, where the window does not yet.

        Args:
            there, run: states of it and of the run at the same time.
            now: newest state of the run, near which the window shows the other robot.
            look: how it looks.
        """
        if (now is self._shown and look.colours == self._painted) or not self._open():
            return
        state = _carried(there, run, now)
        if look.colours != self._painted:
            self._paint(look)
        pose = (self._setup.joints, state.q, state.position, state.orientation)
        origins, turns = self._setup.tree.forward(*pose)
        for marker, (link, form) in zip(self._batch.marker, self._places, strict=True):
            place, turn = marker.pose.position, marker.pose.orientation
            place.x, place.y, place.z = origins[link] + turns[link] @ form.position
            turn.x, turn.y, turn.z, turn.w = matrix_quaternion(turns[link] @ form.rotation)
        self._send()
        for marker in self._batch.marker:
            marker.ClearField("point")
            marker.ClearField("material")
        self._shown, self._painted = now, look.colours

    def remove(self) -> None:
        """Remove what is shown."""
        if self._painted is not None and self._node.service_info(SERVICE):
            self._clear()
        self._shown = self._painted = None

    def _clear(self) -> None:
        self._batch.Clear()
        self._batch.marker.add(ns=NAMESPACE, action="DELETE_ALL")
        self._send()

    def _open(self) -> bool:
        """Return whether there is a window that takes markers."""
        if time.monotonic() < self._next:
            return False
        if not self._node.service_info(SERVICE):
            self._next, self._painted = time.monotonic() + AGAIN, None
            return False
        return True

    def _send(self) -> None:
        """Send the markers; a window that is slow to answer has them, and is given a rest."""
        kind = type(self._batch)
        done, _ = self._node.request(SERVICE, self._batch, kind, self._answer, PATIENCE)
        if not done:
            self._next = time.monotonic() + AGAIN

    def _paint(self, look: Look) -> None:
        """Give the markers the colours of a look, and a new window their forms."""
        root = ET.fromstring(look.paint(self._setup.urdf()))
        links = {element.get("name"): element for element in root.iter("link")}
        colours = list[list[float]]()
        if anew := self._painted is None:
            self._clear()  # what is left of an earlier run
            self._batch.Clear()
            self._places.clear()
        for index, link in enumerate(self._setup.tree.links):
            for visual in links[link.name].findall("visual"):
                form, colour = read_geometry(visual), visual.find("material/color")
                if form.form not in FORMS or colour is None:
                    continue
                colours.append([float(word) for word in colour.get("rgba", "").split()])
                if anew:
                    self._places.append((index, form))
                    _fill(self._batch.marker.add(ns=NAMESPACE, id=len(colours)), form)
        for marker, rgba in zip(self._batch.marker, colours, strict=True):
            for part, share in (("ambient", 1.0), ("diffuse", 1.0), ("emissive", GLOW * rgba[3])):
                lit = dict(zip("rgb", (share * value for value in rgba), strict=False))
                getattr(marker.material, part).MergeFrom(message("Color")(**lit, a=rgba[3]))


def _fill(marker: Message, form: Geometry) -> None:
    """Give a marker its form and size; of a mesh, all triangles."""
    marker.type = marker.Type.Value(FORMS[form.form])
    across = 2.0 * form.radius
    sizes = {"box": form.size.tolist(), "mesh": form.scale.tolist(), "sphere": 3 * [across]}
    size = marker.scale
    size.x, size.y, size.z = sizes.get(form.form, [across, across, form.length])
    if form.form == "mesh":
        vertices, triangles = read_mesh(mesh_path(form.file))
        for corner in vertices[triangles].reshape(-1, 3).tolist():
            marker.point.add(**dict(zip("xyz", corner, strict=True)))


def _carried(there: RobotState, run: RobotState, now: RobotState) -> RobotState:
    """Return a state that differs from a newest one as two of the same time do."""
    turn = quaternion_product(there.orientation, run.orientation * (-1.0, -1.0, -1.0, 1.0))
    return replace(
        now,
        q=now.q + there.q - run.q,
        position=now.position + there.position - run.position,
        orientation=quaternion_product(turn, now.orientation),
    )

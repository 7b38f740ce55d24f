"""A robot on ground, served to browsers.

Needs viser and yourdfpy, the extra `view`; they are imported when a stage is opened.
"""

from __future__ import annotations

import contextlib
import io
import socket
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np

from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Array

PORT = 8080
HOST = "127.0.0.1"  # this machine alone: who sees a view can also steer it
FOLLOW = 0.08  # of the way to the robot, a picture: the view glides after it
INSTALL = "the browser view needs {name}; run: pip install viser yourdfpy"


class Stage:
    """Serve a robot on ground to browsers, and pose it.

    Args:
        urdf: description of the robot.
        port: to listen on; the next free one where it is taken.
        host: address to listen on.

    Raises:
        AccordError: if the extra `view` is not installed, or it cannot listen on the address.
    """

    def __init__(self, urdf: str, port: int = PORT, host: str = HOST) -> None:
        try:
            viser: Any = import_module("viser")
            yourdfpy: Any = import_module("yourdfpy")
            extras: Any = import_module("viser.extras")
        except ImportError as error:
            raise AccordError(INSTALL.format(name=error.name)) from None
        _check_host(host)
        with contextlib.redirect_stdout(io.StringIO()):  # viser prints a banner
            self.server: Any = viser.ViserServer(host=host, port=port, verbose=False)
        self._host = host
        scene = self.server.scene
        scene.set_up_direction("+z")
        self._world = scene.add_frame("/world", show_axes=False)
        scene.add_grid(
            "/world/ground",
            cell_size=0.25,
            section_size=1.0,
            cell_color=(232, 235, 239),
            section_color=(200, 206, 214),
            infinite_grid=True,
        )
        self._root = scene.add_frame("/world/robot", show_axes=False)
        model = yourdfpy.URDF.load(io.StringIO(rooted_at_base(urdf)))
        self._model = extras.ViserUrdf(self.server, model, root_node_name="/world/robot")
        self._names: tuple[str, ...] = self._model.get_actuated_joint_names()
        size, middle = float(np.linalg.norm(model.scene.extents)), model.scene.centroid
        camera = self.server.initial_camera
        camera.position = tuple(middle + size * np.array([0.35, -1.0, 0.7]))
        camera.look_at = tuple(middle)
        self._follow = self.server.gui.add_checkbox("follow the robot", True)
        self._shift = np.zeros(3)

    @property
    def url(self) -> str:
        """Address of the view."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"http://{host}:{self.server.get_port()}"

    def pose(self, angles: Mapping[str, float], position: Array, orientation: Array) -> None:
        """Put the robot in a pose: joints by name [rad], base [m], quaternion x y z w."""
        x, y, z, w = orientation
        # The world moves instead of the camera, which stays in the hands of the onlooker.
        aim = np.array([position[0], position[1], 0.0]) if self._follow.value else np.zeros(3)
        self._shift = self._shift + FOLLOW * (aim - self._shift)
        with self.server.atomic():
            self._world.position = tuple(-self._shift)
            self._root.position = tuple(position)
            self._root.wxyz = (w, x, y, z)
            if self._names:
                self._model.update_cfg(np.array([angles.get(name, 0.0) for name in self._names]))

    def close(self) -> None:
        """Stop serving."""
        with contextlib.redirect_stdout(io.StringIO()):
            self.server.stop()


def _check_host(host: str) -> None:
    """Refuse an address on which viser would try for ever.

    Raises:
        AccordError: if this machine cannot listen on it.
    """
    try:
        family = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0][0]
        socket.create_server((host, 0), family=family).close()
    except (OSError, UnicodeError) as error:
        reason = (getattr(error, "strerror", None) or "it is no address").partition(" (")[0]
        raise AccordError(f"cannot listen on {host}: {reason}") from None


def rooted_at_base(urdf: str) -> str:
    """Return a URDF whose root is `base_link`: the view moves the base by itself."""
    root = ET.fromstring(urdf)
    for element in [*root.findall("joint"), *root.findall("link")]:
        parent = element.find("parent")
        if element.get("name") == "world" or (parent is not None and parent.get("link") == "world"):
            root.remove(element)
    return ET.tostring(root, encoding="unicode")

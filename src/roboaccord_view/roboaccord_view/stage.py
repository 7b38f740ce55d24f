"""A robot in its surroundings, served to browsers: what is on the page beside its controls.

Colours, light, camera and marks of pages may be changed here. HOST stays this machine alone, for a
viewer can also steer. viser is imported when a stage is opened, and only through guard.py.
"""

from __future__ import annotations

import contextlib
import io
import math
import socket
import time
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
from roboaccord.contract import IDENTITY, ORIGIN, AccordError, Array
from roboaccord.description import BACKDROPS, GROUND, RED, TERRAIN, VISUAL, WALL, Scene, Surface
from roboaccord.numerics import matrix_quaternion
from roboaccord.scenario import Camera

from roboaccord_view.annotations import GREEN, rgb
from roboaccord_view.ground import GROUND as GROUND_COLOUR
from roboaccord_view.ground import LINE, TRACE
from roboaccord_view.motion import outline
from roboaccord_view.raster import Mesh, hidden
from roboaccord_view.stance import ASIDE, AZIMUTHS, ELEVATION, SMALL, STEEP, VIEW, frame, towards

if TYPE_CHECKING:
    from viser import FrameHandle, LabelHandle, MeshHandle, SceneApi, SceneNodeHandle

PORT = 8080
HOST = "127.0.0.1"  # this machine alone: a viewer can also steer
FOLLOW = 0.08  # of the distance to the robot, a picture: the view glides after it
NEAREST = 1e-3  # of the distance to what is looked at: nothing nearer is drawn
BEFORE_WALL = np.array([1.0, -0.35, 0.25])  # from the robot to the camera
DIM = 0.5  # of the light from all around: more washes the colours out
INSTALL = "the browser view needs viser; run: pip install viser"
MARK = 0.02  # m: radius of a place that is marked
NO_ARROWS = np.zeros((1, 2, 3))  # viser draws no empty list


Pose = tuple[Mapping[str, float], Array, Array]
"""Joints by name [rad], base (3,) [m] and its quaternion x y z w (4,)."""


class Figure:
    """Show the visual geometry of a description, or what it collides by, link by link.

    Args:
        scene: viser's.
        path: name of its node in the scene.
        urdf: description of the robot.
        collision: whether the collision shapes are shown.

    Attributes:
        parsed: what is drawn of the description.
        frames: viser's node of each link with a mesh, by its index.

    Raises:
        AccordError: if the description is broken, or has nothing that can be drawn.
    """

    def __init__(self, scene: SceneApi, path: str, urdf: str, collision: bool = False) -> None:
        self._scene, self._path, self._collision = scene, path, collision
        self.parsed = Scene.parse(urdf, collision=collision)
        links = self.parsed.tree.links
        self._joints = tuple(joint.name for joint in self.parsed.tree.moving)
        self.frames: dict[int, FrameHandle] = {}
        self._handles: list[MeshHandle] = []
        for number, shape in enumerate(self.parsed.shapes):
            name = f"{path}/{links[shape.link].name}"
            if shape.link not in self.frames:
                self.frames[shape.link] = scene.add_frame(name, show_axes=False)
            surface = Surface(f"{name}/{number}", shape.vertices, shape.faces, shape.colour)
            self._handles.append(add_surface(scene, surface.name, surface, shape.opacity))

    def paint(self, urdf: str) -> None:
        """Take the colours of another description of the same shapes."""
        shapes = Scene.parse(urdf, collision=self._collision).shapes
        for handle, shape in zip(self._handles, shapes, strict=True):
            handle.color, handle.opacity = rgb(255.0 * shape.colour), shape.opacity

    def label(self, link: int, text: str) -> LabelHandle:
        """Write a text, hidden at first, at the origin of a link."""
        name = f"{self._path}/{self.parsed.tree.links[link].name}/{text}"
        return self._scene.add_label(name, text, anchor="bottom-left", visible=False)

    def redden(self, shapes: Collection[int]) -> None:
        """Show some shapes in red, by their indices, and the others as described."""
        for i, (handle, shape) in enumerate(zip(self._handles, self.parsed.shapes, strict=True)):
            handle.color = rgb(255.0 * np.array(RED if i in shapes else shape.colour))

    def forward(self, pose: Pose) -> tuple[Array, Array]:
        """Return origins (k, 3) [m] and rotations (k, 3, 3) of the links in a pose."""
        angles, position, orientation = pose
        q = np.array([angles.get(name, 0.0) for name in self._joints])
        return self.parsed.tree.forward(self._joints, q, position, orientation)

    def pose(self, pose: Pose) -> None:
        """Put the robot in a pose."""
        origins, rotations = self.forward(pose)
        for i, node in self.frames.items():
            node.position = origins[i]
            node.wxyz = np.roll(matrix_quaternion(rotations[i]), 1)

    def points(self, pose: Pose) -> Array:
        """Return the outermost vertices (v, 3) [m] in a pose."""
        origins, turns = self.forward(pose)
        shapes = self.parsed.shapes
        placed = [outline(s.vertices) @ turns[s.link].T + origins[s.link] for s in shapes]
        return np.concatenate(placed)


def add_surface(scene: SceneApi, path: str, surface: Surface, opacity: float = 1.0) -> MeshHandle:
    """Add a surface to viser's scene, and return its node."""
    opaque = opacity == 1.0
    return scene.add_mesh_simple(
        path, surface.vertices, surface.triangles, color=rgb(255.0 * surface.colour),
        opacity=None if opaque else opacity, flat_shading=True, cast_shadow=opaque,
    )  # fmt: skip


class Stage:
    """Serve a robot in its surroundings to browsers, and pose it.

    Args:
        urdf: description of the robot.
        port: to listen on; the next free one where it is taken.
        host: address to listen on.
        surfaces: what stands around; level ground where there is nothing.
        collision: whether robots are shown by their collision shapes.

    Attributes:
        server: viser's.
        robot: the figure that is followed.
        nodes: viser's nodes of the surfaces by name, and of the `grid`.

    Raises:
        AccordError: if viser is not installed, or it cannot listen on the address.
    """

    def __init__(
        self,
        urdf: str,
        port: int = PORT,
        host: str = HOST,
        surfaces: Sequence[Surface] = (),
        collision: bool = False,
    ) -> None:
        _check_host(host)
        try:
            from roboaccord_view.guard import open_server

            self.server = open_server(host, port)
        except ImportError:
            raise AccordError(INSTALL) from None
        self._host, self._collision = host, collision
        scene = self.server.scene
        scene.set_up_direction("+z")
        scene.configure_environment_map("warehouse", environment_intensity=DIM)
        self._world = scene.add_frame("/world", show_axes=False)
        self.nodes: dict[str, SceneNodeHandle] = {}
        self._surfaces = {surface.name: surface for surface in surfaces}
        if not {WALL, TERRAIN} & self._surfaces.keys():
            self._add_grid("xy", ORIGIN)
        for name, surface in self._surfaces.items():
            if name == WALL:
                self._add_grid("yz", np.array([surface.vertices[:, 0].max() + 1e-3, 0.0, 0.0]))
            if name != GROUND:  # that is the grid's plane
                self.nodes[name] = add_surface(scene, f"/world/{name}", surface)
        self.robot = self.add_robot(urdf)
        self._contacts = scene.add_arrows(
            "/world/contacts", NO_ARROWS, (255, 153, 0),
            shaft_radius=0.004, head_radius=0.01, head_length=0.02, visible=False,
        )  # fmt: skip
        self._points = scene.add_point_cloud(
            "/world/points", NO_ARROWS[:, 0], (230, 26, 26), point_size=0.015,
            point_shape="circle", visible=False,
        )  # fmt: skip
        self._follow = self.server.gui.add_checkbox(
            "follow the robot", TERRAIN not in self._surfaces
        )
        if self.robot.parsed.kind != VISUAL:
            self.server.gui.add_text("drawn", self.robot.parsed.kind, disabled=True)
        self._shift = np.zeros(3)
        self.aim(({}, ORIGIN, IDENTITY))

    @property
    def url(self) -> str:
        """Address of the view."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"http://{host}:{self.server.get_port()}"

    def add_robot(self, urdf: str, name: str = "robot") -> Figure:
        """Add a robot."""
        return Figure(self.server.scene, f"/world/{name}", urdf, self._collision)

    def aim(self, *poses: Pose) -> None:
        """Point the camera of pages that open at the robot in all poses, or at all of the terrain.

        Where the view follows the robot, that is where it is seen then.
        """
        self._shift = self._followed(poses[0][1])
        robot = np.vstack([self.robot.points(p) - self._followed(p[1]) for p in poses])
        solids = [each for name, each in self._surfaces.items() if name not in BACKDROPS]
        points = np.vstack([robot, *(each.vertices - self._shift for each in solids)])
        directions = [towards(turn, ELEVATION) for turn in AZIMUTHS]
        if TERRAIN in self._surfaces:
            points = self._surfaces[TERRAIN].vertices - self._shift
            directions = [towards(ASIDE, STEEP)]
        elif WALL in self._surfaces:
            directions = [BEFORE_WALL]

        def blocked(direction: Array) -> int:
            target, distance = frame(points, direction, 1.0)
            seen = Camera.aim(target, direction, distance, VIEW, (SMALL, SMALL))
            mesh = Mesh.join(solids)
            return hidden(seen, mesh.at(mesh.points - self._shift), robot)

        direction = min(directions, key=blocked) if solids else directions[0]
        target, distance = frame(points, direction, 1.0)
        camera = self.server.initial_camera
        camera.fov = VIEW
        camera.near = NEAREST * distance
        camera.look_at = tuple(target)
        camera.position = tuple(target + distance * direction / np.linalg.norm(direction))

    def pose(self, pose: Pose, *, at_once: bool = False) -> None:
        """Put the robot in a pose; the view glides after it, or is there `at_once`."""
        # The world moves instead of the camera, which stays in the hands of the onlooker.
        way = self._followed(pose[1]) - self._shift
        self._shift = self._shift + (1.0 if at_once else FOLLOW) * way
        with self.server.atomic():
            self._world.position = -self._shift
            self.robot.pose(pose)

    def _followed(self, position: Array) -> Array:
        """Return the place (3,) [m] that is to be where the world's origin was."""
        if not self._follow.value:
            return np.zeros(3)
        return np.array([*position[:2], position[2] if WALL in self._surfaces else 0.0])

    def mark(self, name: str, position: Array) -> None:
        """Mark a place in the world (3,) [m], and write its name there."""
        scene, colour = self.server.scene, np.array(GREEN) / 255.0
        scene.add_icosphere(f"/world/{name}", MARK, tuple(colour), position=position)
        scene.add_label(f"/world/{name}/name", name, anchor="bottom-left")

    def draw_path(self, points: Array) -> None:
        """Draw a path (m, 3) [m] instead of the one before."""
        if len(points) > 1:
            self.server.scene.add_line_segments(
                "/world/path", np.stack([points[:-1], points[1:]], axis=1),
                rgb(TRACE), thickness=2.0, thickness_units="screen",
            )  # fmt: skip

    def touch(self, arrows: Array) -> None:
        """Show contacts by arrows (k, 2, 3) [m] from their points."""
        some = len(arrows) > 0
        with self.server.atomic():
            if some:
                self._contacts.points = arrows.astype(np.float32)
                self._points.points = arrows[:, 0].astype(np.float32)
            if self._contacts.visible != some:
                self._contacts.visible = self._points.visible = some

    def wait_for_page(self, timeout: float = math.inf) -> None:
        """Wait until somebody has opened the page, at most so long [s]."""
        end = time.monotonic() + timeout
        while not self.server.get_clients() and time.monotonic() < end:
            time.sleep(0.05)

    def close(self) -> None:
        """Stop serving."""
        with contextlib.redirect_stdout(io.StringIO()):
            self.server.stop()

    def _add_grid(self, plane: Literal["xy", "yz"], position: Array) -> None:
        self.nodes["grid"] = self.server.scene.add_grid(
            "/world/grid", plane=plane, position=position, cell_size=0.25, section_size=1.0,
            cell_color=rgb(0.97 * GROUND_COLOUR), section_color=rgb(LINE),
            infinite_grid=plane == "xy", width=12.0, height=4.0,
        )  # fmt: skip


def _check_host(host: str) -> None:
    """Refuse an address on which viser would try for ever.

    Raises:
        AccordError: if this machine cannot listen on it.
    """
    try:
        family = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0][0]
        socket.create_server((host, 0), family=family).close()
    except (OSError, UnicodeError) as error:
        reason = (getattr(error, "strerror", None) or "it is not an address").partition(" (")[0]
        raise AccordError(f"cannot listen on {host}: {reason}") from None

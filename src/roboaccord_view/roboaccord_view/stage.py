"""The scene of a page: a robot in its surroundings, served to browsers, beside the page's controls.

A Stage places the camera so that nothing hides the robot, follows the robot, and shows contacts,
paths and marks. It follows by moving the world under the camera, because the camera belongs to the
person who looks. viser, the library that serves pages, is imported when a stage is opened, and only
through guard.py.

HOST stays this machine alone, for a viewer can also steer. Colours, light, camera and marks may be
changed.
"""

from __future__ import annotations

import contextlib
import io
import math
import socket
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from roboaccord.contract import IDENTITY, ORIGIN, AccordError, Array
from roboaccord.description import BACKDROPS, GROUND, TERRAIN, VISUAL, WALL, Surface
from roboaccord.scenario import Camera

from roboaccord_view.drawing.annotations import GREEN, rgb
from roboaccord_view.drawing.ground import GRID_COLOUR, GROUND_COLOUR, PATH_COLOUR
from roboaccord_view.drawing.raster import Mesh, count_hidden
from roboaccord_view.figure import BodyFigures, Figure, Pose, add_surface
from roboaccord_view.stance import AZIMUTHS, CHECK_SIZE, ELEVATION, FOV, STEEP_VIEW, frame, towards

if TYPE_CHECKING:
    from viser import SceneNodeHandle

PORT = 8080  # viser's default
HOST = "127.0.0.1"  # this machine alone: a viewer can also steer
POLL_INTERVAL = 0.05  # s; between checks for an open page, no delay for a person
# Fraction of the way to the robot that the view moves in each picture, so that it glides after it.
# At 30 pictures a second its time constant is 0.4 s.
GLIDE_SHARE = 0.08
# Fraction of the distance to the target; nothing nearer to the camera is drawn: depth buffers of 24
# bits then resolve 1e-4 of the distance there.
NEAR_PLANE = 1e-3
# Direction to the camera from a robot on a wall: 19 degrees to the side and 13 degrees up, by eye,
# to see depth.
WALL_DIRECTION = np.array([1.0, -0.35, 0.25])
AMBIENT_INTENSITY = 0.5  # intensity of the light from all around: more washes the colours out
# m; distance of the grid before the wall, so that the two do not flicker: below what is seen, above
# the depth buffer's steps at some metres.
OFF_WALL = 1e-3
INSTALL_MESSAGE = "the browser view needs viser; run: pip install viser"
MARK_RADIUS = 0.02  # m; radius of a mark, by eye: seen beside a robot of 1 m, and hides none of it
NO_ARROWS = np.zeros((1, 2, 3))  # one arrow of no length, for viser takes no empty list


class Stage:
    """A robot in its surroundings, served to browsers.

    Args:
        urdf: description of the robot.
        port: port to listen on; if it is taken, the next free one.
        host: address to listen on.
        surfaces: surfaces around the robot; level ground if there are none.
        collision: whether robots are shown by their collision shapes.

    Attributes:
        server: viser's server.
        robot: the figure that the view follows.
        bodies: the free bodies among the surfaces.
        nodes: viser's nodes of the surfaces, by name, and of the grid as `grid`.

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
            raise AccordError(INSTALL_MESSAGE) from None
        self._host, self._collision = host, collision
        scene = self.server.scene
        scene.set_up_direction("+z")
        scene.configure_environment_map("warehouse", environment_intensity=AMBIENT_INTENSITY)
        self._world = scene.add_frame("/world", show_axes=False)
        self._surfaces = {surface.name: surface for surface in surfaces if not surface.frame}
        self.bodies = BodyFigures(scene, "/world", surfaces)
        self.nodes = self._add_surfaces()
        self.robot = self.add_robot(urdf)
        # Contact forces as orange arrows and their points as red dots, hidden at first; sizes in m.
        arrow: dict[str, Any] = {"shaft_radius": 0.004, "head_radius": 0.01, "head_length": 0.02}
        self._contacts = scene.add_arrows(
            "/world/contacts", NO_ARROWS, (255, 153, 0), **arrow, visible=False
        )
        dot: dict[str, Any] = {"point_size": 0.015, "point_shape": "circle"}
        self._points = scene.add_point_cloud(
            "/world/points", NO_ARROWS[:, 0], (230, 26, 26), **dot, visible=False
        )
        follows = TERRAIN not in self._surfaces
        self._follow = self.server.gui.add_checkbox("follow the robot", follows)
        if self.robot.parsed.kind != VISUAL:
            self.server.gui.add_text("drawn", self.robot.parsed.kind, disabled=True)
        # Where the view has followed the robot to (3,) [m]; the world is moved back by as much.
        self._shift = np.zeros(3)
        self.aim(({}, ORIGIN, IDENTITY))

    @property
    def url(self) -> str:
        """Address of the view."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"http://{host}:{self.server.get_port()}"

    def add_robot(self, urdf: str, name: str = "robot") -> Figure:
        """Add a robot to the page."""
        return Figure(self.server.scene, f"/world/{name}", urdf, self._collision)

    def aim(self, *poses: Pose) -> None:
        """Set the camera of pages that open: it sees the robot in all poses, or all terrain.

        If the view follows the robot, each pose counts relative to the point that is followed.
        """
        self._shift = self._followed_point(poses[0][1])
        moved = [self.robot.points(pose) - self._followed_point(pose[1]) for pose in poses]
        robot = np.vstack(moved)
        solids = [s for name, s in self._surfaces.items() if name not in BACKDROPS]
        points = np.vstack([robot, *(solid.vertices - self._shift for solid in solids)])
        # Directions to the camera, of which the one is taken in which solids hide the robot least.
        directions = [towards(azimuth, ELEVATION) for azimuth in AZIMUTHS]
        if TERRAIN in self._surfaces:
            points = self._surfaces[TERRAIN].vertices - self._shift
            directions = [towards(*STEEP_VIEW)]
        elif WALL in self._surfaces:
            directions = [WALL_DIRECTION]

        def count_blocked(direction: Array) -> int:
            """Return the number of points of the robot that solids hide."""
            target, distance = frame(points, direction, 1.0)
            camera = Camera.aim(target, direction, distance, FOV, (CHECK_SIZE, CHECK_SIZE))
            mesh = Mesh.join(solids)
            return count_hidden(camera, mesh.at(mesh.points - self._shift), robot)

        direction = min(directions, key=count_blocked) if solids else directions[0]
        target, distance = frame(points, direction, 1.0)
        camera = self.server.initial_camera
        camera.fov = FOV
        camera.near = NEAR_PLANE * distance
        camera.look_at = tuple(target)
        camera.position = tuple(target + distance * direction / np.linalg.norm(direction))

    def pose(self, pose: Pose, *, at_once: bool = False) -> None:
        """Put the robot in a pose; the view glides after it, or follows `at_once`."""
        # The world moves instead of the camera, which is left to the person who looks.
        distance = self._followed_point(pose[1]) - self._shift
        self._shift = self._shift + (1.0 if at_once else GLIDE_SHARE) * distance
        with self.server.atomic():
            self._world.position = -self._shift
            self.robot.pose(pose)

    def _followed_point(self, position: Array) -> Array:
        """Return the point (3,) [m] that the view follows, for a position of the base."""
        if not self._follow.value:
            return np.zeros(3)
        return np.array([*position[:2], position[2] if WALL in self._surfaces else 0.0])

    def mark(self, name: str, position: Array) -> None:
        """Mark a point of the world (3,) [m], and write its name there."""
        scene, colour = self.server.scene, np.array(GREEN) / 255.0
        scene.add_icosphere(f"/world/{name}", MARK_RADIUS, tuple(colour), position=position)
        scene.add_label(f"/world/{name}/name", name, anchor="bottom-left")

    def draw_path(self, points: Array) -> None:
        """Draw a path (m, 3) [m], in place of the last one."""
        if len(points) > 1:
            segments = np.stack([points[:-1], points[1:]], axis=1)
            self.server.scene.add_line_segments(
                "/world/path", segments, rgb(PATH_COLOUR), thickness=2.0, thickness_units="screen"
            )

    def show_contacts(self, arrows: Array) -> None:
        """Show contacts by arrows (k, 2, 3) [m] from their points."""
        has_arrows = len(arrows) > 0
        with self.server.atomic():
            if has_arrows:
                self._contacts.points = arrows.astype(np.float32)
                self._points.points = arrows[:, 0].astype(np.float32)
            if self._contacts.visible != has_arrows:
                self._contacts.visible = self._points.visible = has_arrows

    def wait_for_page(self, timeout: float = math.inf) -> None:
        """Wait until somebody has opened the page, at most `timeout` [s]."""
        end = time.monotonic() + timeout
        while not self.server.get_clients() and time.monotonic() < end:
            time.sleep(POLL_INTERVAL)

    def close(self) -> None:
        """Stop serving."""
        with contextlib.redirect_stdout(io.StringIO()):
            self.server.stop()

    def _add_surfaces(self) -> dict[str, SceneNodeHandle]:
        """Add the surfaces to the page, with a grid on level ground or a wall; return the nodes."""
        nodes: dict[str, SceneNodeHandle] = {}
        if not {WALL, TERRAIN} & self._surfaces.keys():
            nodes["grid"] = self._add_grid("xy", ORIGIN)
        for name, surface in self._surfaces.items():
            if name == WALL:
                before = surface.vertices[:, 0].max() + OFF_WALL
                nodes["grid"] = self._add_grid("yz", np.array([before, 0.0, 0.0]))
            if name != GROUND:  # that is the grid's plane
                nodes[name] = add_surface(self.server.scene, f"/world/{name}", surface)
        return nodes

    def _add_grid(self, plane: Literal["xy", "yz"], position: Array) -> SceneNodeHandle:
        """Add a grid in a plane through a position (3,) [m], and return its node."""
        return self.server.scene.add_grid(
            "/world/grid", plane=plane, position=position, cell_size=0.25, section_size=1.0,
            cell_color=rgb(0.97 * GROUND_COLOUR), section_color=rgb(GRID_COLOUR),
            infinite_grid=plane == "xy", width=12.0, height=4.0,
        )  # fmt: skip


def _check_host(host: str) -> None:
    """Check that this machine can listen on an address: viser would try for ever.

    Raises:
        AccordError: if it cannot.
    """
    try:
        family = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0][0]
        socket.create_server((host, 0), family=family).close()
    except (OSError, UnicodeError) as error:
        reason = (getattr(error, "strerror", None) or "it is not an address").partition(" (")[0]
        raise AccordError(f"cannot listen on {host}: {reason}") from None

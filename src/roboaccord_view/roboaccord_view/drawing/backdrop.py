"""What is behind the robot in the pictures of a film: ground or a wall with a grid, or terrain.

film.py takes a picture of the Backdrop and draws the robot over it. Level ground is drawn anew when
the camera moves; terrain, before a camera at rest, is drawn once (ground.py). A Backdrop also has
the shadow of the robot fall on either.
"""

from roboaccord.contract import Array
from roboaccord.scenario import Camera

from roboaccord_view.drawing.ground import Relief, draw_ground, shade_ground
from roboaccord_view.drawing.raster import Canvas, Depths, Mesh, Picture


class Backdrop:
    """Ground or terrain behind a robot, and the shadow on it.

    Args:
        camera: of the first picture; it is at rest if there is terrain.
        floor: height of level ground in the axes of pictures [m].
        grid: distance between its grid lines [m].
        terrain: mesh of the terrain; None for level ground.
    """

    def __init__(self, camera: Camera, floor: float, grid: float, terrain: Mesh | None) -> None:
        self._floor, self._grid = floor, grid
        # In the picture's own resolution, for the edges of shadows are soft anyway.
        self._shadow_canvas = Canvas(camera)
        # Position of the camera for which the ground was drawn last, and that picture.
        self._eye, self._ground = camera.eye, draw_ground(camera, floor, grid)
        self._relief = Relief(terrain, camera, self._ground.copy()) if terrain else None

    @property
    def hidden(self) -> Depths | None:
        """1 / depth of terrain, which hides what is behind it (height, width) [1/m]."""
        return self._relief.hidden if self._relief else None

    def picture(self, camera: Camera) -> Picture:
        """Return a copy of the picture behind the robot."""
        if self._relief:
            return self._relief.picture.copy()
        if (camera.eye != self._eye).any():
            self._eye, self._ground = camera.eye, draw_ground(camera, self._floor, self._grid)
        return self._ground.copy()

    def shade(self, picture: Picture, camera: Camera, mesh: Mesh) -> None:
        """Darken a picture of a camera where a mesh casts its shadow."""
        if self._relief:
            self._relief.shade(picture, mesh)
        else:
            self._shadow_canvas.camera = camera
            shade_ground(picture, self._shadow_canvas, mesh, self._floor)

    def under(self, points: Array) -> Array | None:
        """Return points (m, 3) [m] lowered onto the terrain; None without terrain."""
        return self._relief.under(points) if self._relief else None

"""Roll the ball over a plane of voxels around a square, and see how that has turned it."""

import math

import numpy as np
from scipy.spatial.transform import Rotation
from voxel_sphere import Field, Roller, surface_of, surface_parts

n, r = 100, 10.0  # voxels
plane = surface_of({"surface": "plane", "parameters": {}}, n, r)
field = Field.build(surface_parts(plane, n)[0].volume, r)
ball = Roller(field, centre=field.place(40.0, 40.0))

quarter = 0.5 * math.pi  # rad of turn: sides of pi/2 r
for wx, wy in ((0, 1), (-1, 0), (0, -1), (1, 0)):  # to +x, +y, -x, -y
    ball.advance(np.array([wx, wy, 0.0]), quarter)
turn = Rotation.from_quat(ball.orientation).as_rotvec()
angle = float(np.linalg.norm(turn))
print(f"back within {np.linalg.norm(ball.centre[:2] - 40.0):.1e} voxels")
print(f"turned by {math.degrees(angle):.4f} degrees about {(turn / angle).round(4)}")

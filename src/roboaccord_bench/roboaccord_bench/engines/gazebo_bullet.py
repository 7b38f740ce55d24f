"""Gazebo's server with bullet-featherstone. Of two coefficients Bullet takes the product.

gz-physics gives Bullet the coefficient of a surface as friction and as anisotropic friction, too,
so that it acts twice: the bench finds 2 for the stopping distance at mu 0.5, and more at 45
degrees. Torques are taken in the axes of the body: only bodies without a yaw start with a spin.
"""

import math
from dataclasses import replace

from roboaccord_bench.engines import gazebo

ENGINE = replace(
    gazebo.ENGINE,
    options={"default": {"physics": "bullet-featherstone"}},
    surface_mu=math.sqrt,
)

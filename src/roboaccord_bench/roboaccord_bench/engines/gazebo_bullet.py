"""Gazebo's server with bullet-featherstone. Of two coefficients it takes the product."""

import math
from dataclasses import replace

from roboaccord_bench.engines import gazebo

ENGINE = replace(
    gazebo.ENGINE,
    options={"default": {"physics": "bullet-featherstone"}},
    surface_mu=math.sqrt,
)

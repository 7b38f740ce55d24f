"""A sphere driven by two constraint rollers, with slip.

`model` has the rig, its kinematics, friction and parameters; `controllers` drive the rollers;
`simulators` has the ball in a bearing, `dribbling` the ball on the ground that a carrier dribbles;
`source` the paper's figures and `cli` the commands. setup.cfg registers robot.py, so its name
stays.

In docstrings "the paper" is Kimura, Ogata and Ishii (2019), docs/roller_sphere.md, and numbers in
brackets are its equations; "our choice" is what this workspace has chosen and may change. Tests are
in src/roller_sphere/test.
"""

from roboaccord.contract import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)

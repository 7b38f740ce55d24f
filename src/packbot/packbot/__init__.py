"""The arm of a Packbot: dynamics, convex hulls, contact, planning, control.

model         parameters, kinematics and dynamics
contact       hulls, distances and contact laws
simulators    the reference and the engines
planning      paths and poses, also with failed joints
controllers   what drives the arm, and trials of that
source        what the report did and claims
cli           commands of `accord packbot`

Start with robot.py, which the entry point in setup.cfg names; its name must stay. "The report" in
docstrings is GRRC Technical Report 2010-02 (docs/packbot.md); "our choice" is what this workspace
has chosen, and may be changed. Tests are in src/packbot/test.
"""

from roboaccord.contract import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)

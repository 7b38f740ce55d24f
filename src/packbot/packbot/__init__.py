"""The arm of a Packbot: dynamics, convex hulls, contact, planning, control.

model         parameters, kinematics and dynamics
contact       hulls, distances and contact laws
simulators    the analytical engine `reference`, and the arm in physics engines
planning      paths and poses, also with failed joints
controllers   controllers of the arm, and trials of them
source        contact scheme and experiment of the source report
cli           commands of `accord packbot`

Start with robot.py, which the entry point in setup.cfg names; its name must stay. "The report" in
docstrings is GRRC Technical Report 2010-02 (docs/packbot.md); "our choice" is what this workspace
has chosen, and may be changed. Tests are in src/packbot/test.
"""

from roboaccord.contract import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)

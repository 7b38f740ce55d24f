"""A two-link brachiating robot with switchable magnets: its hybrid model, gaits and controllers.

robot.py      registration in the workspace: start reading here
model/        parameters and equations of the hybrid system
simulators/   the analytical model, and the robot in a physics engine
controllers/  hands change by the clock, by the state, by a list or by a person
gaits/        steps from hand to hand, their search and their stability
source/       figures and searches of the report
cli/          commands

"The report" in docstrings is the student project of docs/monkeybot.md; "our choice" marks values
that this workspace has chosen, and that may be changed. The name of robot.py stays, for the entry
point in setup.cfg leads there. Tests are in test/.
"""

from roboaccord.contract import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)

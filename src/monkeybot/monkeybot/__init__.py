"""A two-link brachiating robot with switchable magnets: its hybrid model, gaits and controllers.

robot.py      registration: where the MonkeyBot begins
model/        parameters and equations of the hybrid system
simulators/   reference, and the robot in a physics engine
controllers/  by the clock, by the state, by a list or a person
gaits/        periodic motions, their search and their stability
source/       figures and searches of the report
cli/          commands

"The report" in docstrings is the student project of docs/monkeybot.md; "our choice" is what this
workspace has chosen, and may be changed. The name of robot.py stays, for the entry point in
setup.cfg leads there. Tests are in test/.
"""

from roboaccord.contract import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)

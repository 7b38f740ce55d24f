"""A snake robot: its model, gaits and controllers.

robot.py      registration in the workspace: start reading here
model/        parameters and equations
simulators/   the analytical model, and figures of a run
controllers/  lateral undulation and steering
source/       the gait and the pictures of the blog post
cli/          commands

"The post" in docstrings is the blog post that docs/snake.md names; "our choice" marks values that
this workspace has chosen, and that may be changed. The name of robot.py stays, for the entry point
in setup.cfg leads there. Tests are in test/.
"""

from roboaccord.contract import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)

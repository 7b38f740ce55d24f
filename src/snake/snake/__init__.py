"""A snake robot: its model, gaits and controllers.

robot.py      registration: where the snake begins
model/        parameters and equations
simulators/   reference, and figures of a run
controllers/  lateral undulation and steering
source/       what the blog post shows
cli/          commands

"The post" in docstrings is the blog post that docs/snake.md names; "our choice" is what this
workspace has chosen, and may be changed. The name of robot.py stays, for the entry point in
setup.cfg leads there. Tests are in test/.
"""

from roboaccord.contract import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)

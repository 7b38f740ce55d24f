"""A snake robot: its model, gaits and controllers.

Nothing to edit here: the entry point in setup.cfg leads to robot.py, where the snake begins. "The
post" in docstrings is the blog post that docs/snake.md names, "ours" what this workspace has
chosen.
"""

from roboaccord.contract import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)

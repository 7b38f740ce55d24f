"""A snake robot: its model, gaits and controllers.

Nothing may be changed here but this text: the entry point in setup.cfg leads to robot.py, where the
snake begins, and its name must stay. "The post" in docstrings is the blog post that docs/snake.md
names; "our choice" is what this workspace has chosen, and may be changed.
"""

from roboaccord.contract import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)

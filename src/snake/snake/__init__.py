"""A snake robot: its model, gaits and controllers.

Nothing to edit here: the entry point in setup.cfg leads to robot.py, where the snake begins.
"""

from roboaccord.contract import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)

"""The arm of a Packbot: dynamics, convex hulls, contact.

Nothing to edit here: start with robot.py, which the entry point in setup.cfg names.
"""

from roboaccord.contract import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)

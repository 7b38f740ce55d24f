"""A sphere driven by two constraint rollers, with slip.

Nothing to edit here: the package is entered by roller_sphere/robot.py, which setup.cfg registers.
"""

from roboaccord.contract import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)

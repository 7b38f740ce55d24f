"""The arm of a Packbot: dynamics, convex hulls, contact.

Nothing to edit here: start with robot.py, which the entry point in setup.cfg names. "The report" in
docstrings is GRRC Technical Report 2010-02 (docs/packbot.md), "ours" what this workspace has
chosen.
"""

from roboaccord.contract import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)

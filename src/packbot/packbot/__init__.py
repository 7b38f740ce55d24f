"""The arm of a Packbot: dynamics, convex hulls, contact.

Nothing may be changed here but this text: start with robot.py, which the entry point in setup.cfg
names; its name must stay. "The report" in docstrings is GRRC Technical Report 2010-02
(docs/packbot.md); "our choice" is what this workspace has chosen, and may be changed.
"""

from roboaccord.contract import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)

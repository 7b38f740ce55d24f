"""A two-link brachiating robot with switchable magnets: its hybrid model, gaits and controllers.

Nothing to edit here; robot.py registers the MonkeyBot, by the entry point in setup.cfg. "The
report" in docstrings is the student project of docs/monkeybot.md, "ours" what this workspace has
chosen.
"""

from roboaccord.contract import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)

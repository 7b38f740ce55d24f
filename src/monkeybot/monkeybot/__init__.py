"""A two-link brachiating robot with switchable magnets: its hybrid model, gaits and controllers.

Nothing may be changed here but this text: robot.py registers the MonkeyBot, by the entry point in
setup.cfg, and its name must stay. "The report" in docstrings is the student project of
docs/monkeybot.md; "our choice" is what this workspace has chosen, and may be changed.
"""

from roboaccord.contract import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)

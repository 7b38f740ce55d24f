"""A two-link brachiating robot with switchable magnets: its hybrid model, gaits and controllers.

Nothing to edit here; robot.py registers the MonkeyBot, by the entry point in setup.cfg.
"""

from roboaccord.contract import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)

"""Bags: rosbag2 MCAP files of runs, written as the run goes, and readable even when it was cut.

Names for nodes, viewers and pages may be added, as lines of `__init__.pyi` (test_door); those there
stay. What else is recorded may be added, beginning with topics.py; bags that exist must stay
readable, and their hashes equal.
"""

from roboaccord.numerics.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)

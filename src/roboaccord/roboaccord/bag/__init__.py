"""Bags: rosbag2 MCAP files of runs, written as the run goes, and readable even when it was cut.

A name for nodes, viewers and pages is a line of `__init__.pyi` (test_door). Begin with topics.py to
record something new; bags that exist must stay readable, and their hashes equal.
"""

from roboaccord.numerics.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)

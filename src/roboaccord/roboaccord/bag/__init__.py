"""Bags: rosbag2 MCAP files of runs, written as the run goes, and readable even when it was cut."""

from roboaccord.numerics.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)

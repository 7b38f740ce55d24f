"""Runs: factory of simulators, the loop, runners, sweeps, figures of a run."""

from roboaccord.numerics.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)

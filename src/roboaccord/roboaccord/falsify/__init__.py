"""Deliberate errors of an engine, by which the cross-check is itself checked; known here alone.

A kind of error is added in perturbation.py and wrapped.py. What the doors list (`__init__.pyi`) is
imported by cli/crosscheck.py and by tests alone: no simulator, level or report may know of an error
that it is to find, which test/test_layout.py checks.

    broken = falsify.wrap("dart", after_step=lose_a_step)
"""

from roboaccord.numerics.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)

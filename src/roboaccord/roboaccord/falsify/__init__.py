"""Deliberate errors of an engine, by which the cross-check is itself checked; known here alone.

Kinds of errors may be added (see perturbation.py). What must stay: only commands and tests import
from here, for no simulator, level or report may know of the error that it is to find
(test/test_layout.py).

    broken = falsify.wrap("dart", after_step=lose_a_step)
"""

from roboaccord.numerics.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)

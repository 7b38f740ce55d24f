"""Deliberate errors of an engine, which test whether the cross-check finds errors.

perturbation.py has the kinds of errors, wrapped.py the engines that have them:

    broken = falsify.wrap("dart", after_step=lose_a_step)

Kinds may be added (see perturbation.py); names of kinds stay, since users type them. Invariant:
only commands and tests import from here, since no simulator, level or report may know the error
that it is to find (test/test_layout.py). Tests: src/roboaccord/test/test_perturbations.py.
"""

from roboaccord.numerics.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)

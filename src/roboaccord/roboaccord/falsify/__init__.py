"""Engines with deliberate errors, which test whether the cross-check finds errors.

perturbation.py lists the kinds of errors and parses them, model_errors.py builds errors into
models, and wrapped.py makes the engines:

    broken = falsify.wrap("dart", after_step=lose_a_step)

Only commands and tests import from here: no simulator, level or report may know the error that it
is to find (test/test_layout.py). Users type the names of kinds, so these stay. Tests:
src/roboaccord/test/test_perturbations.py.
"""

from roboaccord.numerics.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)

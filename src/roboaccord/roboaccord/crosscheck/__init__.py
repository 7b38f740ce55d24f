"""The cross-check: an engine against the analytical reference, level by level.

1. accelerations at random states, without time stepping;
2. one control period at a time, from every recorded state, in a twin of the engine (`scheme`) and
   in the reference (`one_step`); the same run again (`repeat`);
3. whole trajectories at dt, dt/2, dt/4: agreement is shown by convergence.
"""

from roboaccord.numerics.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)

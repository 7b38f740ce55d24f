"""Base class of all simulators, and the references: our own analytical models.

    base, proxy                  class of every simulator; one that changes calls of another
    friction, stop_watch         friction and springs of joints; events of their stops
    faults, failing              failures of joints, and their effects on the motion
    losses                       energy that a motion loses, by channel
    reference, stops             references in joint space and of any tree; stops of the latter

Tolerances of events and the speed of a drive in its backlash may be tuned. Laws of friction,
impacts and failures, and the integrator of references must stay, because hashes depend on them.
Physics libraries belong to `engines`, single robots to their packages. Names for robots and engines
may be added, as lines of `__init__.pyi` (test_door).

Tests: test_simulators, test_joint_faults, test_partial_faults; of the package test_stops,
test_joint_space and test_energy.
"""

from roboaccord.numerics.lazy import lazy_names

# The names of `__init__.pyi`, each imported on first access.
__getattr__, __dir__, __all__ = lazy_names(__name__)

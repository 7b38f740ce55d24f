"""Base class of all simulators, and the references: our own analytical models.

base.py is the class of every simulator, proxy.py one that changes something of another. Joints:
friction.py; stop_watch.py (events of stops); faults.py and failing.py (failures). losses.py keeps
energy losses. reference.py has the references in joint space and of any tree, stops.py the stops of
the latter.

Tolerances of events and the speed of a drive in its backlash may be tuned. Laws of friction,
impacts and failures, and the integrator of references are fixed: hashes depend on them. Physics
libraries belong to `engines`, single robots to their packages. Names for robots and engines may be
added, as lines of `__init__.pyi` (test_door).

Tests: test_simulators, test_joint_faults, test_partial_faults; of the package test_stops,
test_joint_space and test_energy.
"""

from roboaccord.numerics.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)

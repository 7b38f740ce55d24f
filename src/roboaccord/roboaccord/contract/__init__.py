"""The contract between controllers, simulators and everything that records them.

Inside are: states, commands, targets and trajectories (state, trajectory); the interfaces of
controllers, inputs and force laws (interfaces); contacts, friction and faults of joints (contact,
sliding_friction, fault); outcomes of a check and their codes (outcome, codes); results and their
JSON (results, shown); errors, files, entry points of packages and modes of commands (errors, files,
plugins, modes).

Names may be added, as lines of `__init__.pyi`; defaults, limits and messages may change. What must
stay: existing names, which robots, nodes and pages use (test_door), the order of the arrays that
are hashed, and keys of JSON. This room imports `numerics` and no room above it (test_layout).
Tests: test_outcomes, test_results, test_writers, test_profiles, test_words, test_damage, and
test_plugins and test_modes in test/.
"""

from roboaccord.numerics.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
__all__ += ["lazy_names"]

"""The contract between controllers, simulators and everything that records them.

    state, trajectory, interfaces          states, commands, recorded motions; interfaces of classes
    contact, sliding_friction, fault       contacts, friction on the ground, faults of joints
    certificate                            how far contact forces are from the laws of contact
    checks                                 checks of commands, states and times
    outcome, codes, profiles               results of a cross-check; engines with their settings
    results, shown                         results of commands and their JSON; their display
    errors, suggestions, files             errors for the user, what is meant; safe files
    plugins, modes                         entry points of packages; modes of commands

Names may be added, as lines of `__init__.pyi`; defaults, limits and messages may change. Existing
names, which robots, nodes and pages use (test_door), the order of the arrays that are hashed, and
keys of JSON must stay. This package imports only `numerics` (test_layout). Tests: test_outcomes,
test_results, test_writers, test_profiles, test_words, test_damage, and test_plugins and test_modes
in test/.
"""

from roboaccord.numerics.lazy import lazy_names

# The names of `__init__.pyi`, each imported on first access.
__getattr__, __dir__, __all__ = lazy_names(__name__)
__all__ += ["lazy_names"]

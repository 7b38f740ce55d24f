"""Robots, scenarios, and the setup that brings the two together: everything that a run needs.

Inside are: `Robot` and `Setup` (setup), robots by name (installed) and robots that are files
(robot_file); scenarios as data (scenario, keys), as files (files, paths, catalogue) and by name
with changes (setups); controllers and a user's own code (controllers, user_code, watch, servo);
what stands around a robot, and the camera that sees it (surroundings, camera).

Names may be added, as lines of `__init__.pyi` (test_door), and so may keys of scenarios and hooks
of `Robot` that have a default. What must stay: the names and arguments of `Robot` and `Setup`,
which packages of others use, and keys of scenarios. This room stands on `contract`, `numerics` and
`description`; simulators and engines are above it. Tests: test_scenario, test_parameters,
test_any_robot; test_scenario_keys, test_user_code, test_bag_is_data in test/.
"""

from roboaccord.numerics.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)

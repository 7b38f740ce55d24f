"""What is run: robots, scenarios, and the setup that brings the two together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from roboaccord.numerics.lazy import lazy_names

if TYPE_CHECKING:
    from roboaccord.scenario.controllers import check_controller as check_controller
    from roboaccord.scenario.controllers import make_controller as make_controller
    from roboaccord.scenario.controllers import part_of as part_of
    from roboaccord.scenario.files import apply_change as apply_change
    from roboaccord.scenario.files import load_scenario as load_scenario
    from roboaccord.scenario.files import make_scenario as make_scenario
    from roboaccord.scenario.files import path_changes as path_changes
    from roboaccord.scenario.files import recorded_setup as recorded_setup
    from roboaccord.scenario.files import scenario_names as scenario_names
    from roboaccord.scenario.scenario import Scenario as Scenario
    from roboaccord.scenario.setup import RELEASED as RELEASED
    from roboaccord.scenario.setup import Robot as Robot
    from roboaccord.scenario.setup import Setup as Setup
    from roboaccord.scenario.setup import commands_of as commands_of
    from roboaccord.scenario.setup import find_robot as find_robot
    from roboaccord.scenario.setup import is_file as is_file
    from roboaccord.scenario.setup import robot_names as robot_names
    from roboaccord.scenario.user_code import explain as explain
    from roboaccord.scenario.user_code import shows_tracebacks as shows_tracebacks
    from roboaccord.scenario.user_code import users_code as users_code
    from roboaccord.scenario.watch import START_TIMEOUT as START_TIMEOUT
    from roboaccord.scenario.watch import TIMEOUT as TIMEOUT
    from roboaccord.scenario.watch import Watch as Watch

__getattr__, __dir__, __all__ = lazy_names(__name__)

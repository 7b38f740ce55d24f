"""Controllers of the MonkeyBot: by the clock, by a schedule, by the state, and by hand.

by_clock     change hands at given times, the report's controller: `timed`
by_state     change hands where the free one meets a line: `search`, `level`
commanded    follow a list, or a person: `schedule`, `teleop`
frames       torque and state as seen from the held hand, which all of them use

A controller may be added: a class with `reset` and `update`, entered in robot.py. Fields and names
stay, for they are keys of scenarios. Tests are in test/test_controllers.py.
"""

from monkeybot.controllers.by_clock import TimedController
from monkeybot.controllers.by_state import LevelController, SearchController
from monkeybot.controllers.commanded import ScheduleController, TeleopController
from monkeybot.controllers.frames import HALF_TICK, command, other_hand, seen_from

__all__ = [
    "HALF_TICK", "LevelController", "ScheduleController", "SearchController", "TeleopController",
    "TimedController", "command", "other_hand", "seen_from",
]  # fmt: skip

"""Controllers: by the clock, by a schedule, by the state, with feedback, and by hand."""

from monkeybot.controllers.hands import other_hand
from monkeybot.controllers.level import LevelController
from monkeybot.controllers.lqr import LqrController
from monkeybot.controllers.schedule import ScheduleController
from monkeybot.controllers.search import SearchController
from monkeybot.controllers.teleop import TeleopController
from monkeybot.controllers.timed import TimedController

__all__ = [
    "LevelController",
    "LqrController",
    "ScheduleController",
    "SearchController",
    "TeleopController",
    "TimedController",
    "other_hand",
]

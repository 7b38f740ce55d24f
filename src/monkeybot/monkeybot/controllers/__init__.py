"""Controllers: by the clock, by a schedule, by the state, with feedback, and by hand."""

from monkeybot.controllers.feedback import LevelController, LqrController, SearchController
from monkeybot.controllers.hands import other_hand
from monkeybot.controllers.open_loop import ScheduleController, TeleopController, TimedController

__all__ = [
    "LevelController",
    "LqrController",
    "ScheduleController",
    "SearchController",
    "TeleopController",
    "TimedController",
    "other_hand",
]

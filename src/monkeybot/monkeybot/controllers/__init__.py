"""Controllers of the MonkeyBot: by the clock, by a schedule, by the state, and by hand.

by_clock     `timed`, the report's controller: hands change at given times
by_state     `search` and `level`: hands change when the free one reaches a line
commanded    `schedule` and `teleop`: a list of commands, or a person
frames       torque and state in the frame of the held hand, for all of them and for other packages

A controller is added as a class with `reset` and `update`, and an entry in robot.py. Names and
fields stay, for they are keys of scenarios. Tests are in test/test_controllers.py.
"""

from monkeybot.controllers.frames import HALF_TICK, command, other_hand, seen_from

__all__ = ["HALF_TICK", "command", "other_hand", "seen_from"]

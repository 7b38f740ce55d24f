"""A robot to pose by hand in the browser, with a slider for each joint.

`accord view ROBOT` without a scenario calls `view_robot` (show.py), which serves a page with the
robot. A slider moves its joint within the limits of the description, or by a full turn where there
are none. Other controls may be added in `view_robot`.
"""

import math

from roboaccord.scenario import RobotFile, Setup

from roboaccord_view.live import open_stage, pose_of
from roboaccord_view.stage import HOST, PORT, Stage

# rad or m; resolution of a slider, finer than a pixel of a slider of 300 over a turn.
SLIDER_STEP = 1e-3
TURN = 2.0 * math.pi  # rad; range of a slider of a joint without limits
# rad or m; some files write a large limit where there is none, so one from here on (160 turns)
# counts as none.
NO_LIMIT = 1e3


def view_robot(
    setup: Setup, port: int = PORT, host: str = HOST, *, collision: bool = False
) -> Stage:
    """Serve a robot with a slider a joint, in its initial state, and return its stage.

    Args:
        setup: robot and scenario.
        port, host: address at which the page is served.
        collision: whether collision shapes are drawn instead of visual ones.
    """
    stage = open_stage(setup, port, host, collision=collision)
    start, position, orientation = pose_of(setup, setup.initial)
    angles, robot = dict(start), setup.robot
    ranges = robot.ranges(setup) if isinstance(robot, RobotFile) else {}

    def move(name: str, value: float) -> None:
        """Set a joint [rad or m], and show the robot so."""
        angles[name] = value
        stage.pose((angles, position, orientation))

    for joint in setup.tree.moving:
        low, high = slider_range(*ranges.get(joint.name, joint.ends))
        title = f"{joint.name} [{'m' if joint.kind == 'prismatic' else 'rad'}]"
        first = angles[joint.name] = min(max(angles.get(joint.name, 0.0), low), high)
        slider = stage.server.gui.add_slider(title, low, high, SLIDER_STEP, first)
        slider.on_update(lambda event, name=joint.name: move(name, float(event.target.value)))
    stage.pose((angles, position, orientation))
    return stage


def slider_range(lower: float, upper: float) -> tuple[float, float]:
    """Return the range of a joint's slider [rad or m]: its limits, or else a full turn."""
    if not abs(lower) < NO_LIMIT:
        lower = upper - TURN if abs(upper) < NO_LIMIT else -math.pi
    if not abs(upper) < NO_LIMIT:
        upper = lower + TURN
    return lower, max(upper, lower + SLIDER_STEP)

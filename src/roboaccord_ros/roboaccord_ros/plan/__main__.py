"""Print the plan of a launch as JSON: python -m roboaccord_ros.plan robot:=NAME scenario:=NAME.

launch/planner.py reads the output: the last line of stdout is JSON with status 0, or stderr has one
line with status 2. Meanwhile another run of the same names is looked for.

DISCOVERY and LEAVING may be tuned: if shorter, another run may be overlooked.
"""

from __future__ import annotations

import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from rclpy.context import Context
from roboaccord.contract import AccordError, guard
from roboaccord.scenario import users_code

from roboaccord_ros.graph import names as graph
from roboaccord_ros.graph.process import complain, leave
from roboaccord_ros.graph.spinning import POLL, quiet_node, session
from roboaccord_ros.plan.plan import make_plan
from roboaccord_ros.plan.request import Request

DISCOVERY = 1.0  # until participants are found [s]
LEAVING = 4.0  # until a run that has just ended is gone [s]


def main() -> int:
    """Print the plan, or in one line why there is none, and return the exit status."""
    guard()
    try:
        request = Request.parse(sys.argv[1:])
        with users_code(), ThreadPoolExecutor() as threads:  # discovery takes a while
            search = threads.submit(refuse_rival, request["namespace"])
            plan = make_plan(request)
        search.result()
    except AccordError as error:
        return complain(str(error), error)
    sys.stdout.write(json.dumps(plan) + "\n")
    return 0


def refuse_rival(namespace: str) -> None:
    """Check that no other run publishes the same clock.

    Raises:
        RivalError: that says how runs keep apart.
    """
    context = Context()
    with session(context, args=[]) as nodes:
        nodes.append(node := quiet_node("plan", context, namespace=namespace))
        started = time.monotonic()
        while (elapsed := time.monotonic() - started) < LEAVING:
            rivals = graph.count_clocks(node)
            if elapsed > DISCOVERY and not rivals:
                return
            time.sleep(POLL)
        raise graph.RivalError(node)


if __name__ == "__main__":
    leave(main())

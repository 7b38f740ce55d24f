"""Print the plan of a launch as JSON: python -m roboaccord_ros.plan robot:=NAME scenario:=NAME.

DISCOVERY and LEAVING may be tuned: if shorter, another run of the same names may be overlooked.
Fixed, for launch/planner.py reads it: the last line of stdout is JSON with status 0, or stderr has
one line with status 2. Decisions are made in plan.py, arguments are read in request.py.
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

DISCOVERY = 1.0  # s in which participants that are there are found
LEAVING = 4.0  # s that a run which has just ended may take to be gone


def main() -> int:
    """Print the plan, or in one line why there is none; return the exit status."""
    guard()
    try:
        request = Request.parse(sys.argv[1:])
        with users_code(), ThreadPoolExecutor() as beside:  # discovery takes a while
            quiet = beside.submit(refuse_rival, request["namespace"])
            plan = make_plan(request)
        quiet.result()
    except AccordError as error:
        return complain(str(error), error)
    sys.stdout.write(json.dumps(plan) + "\n")
    return 0


def refuse_rival(namespace: str) -> None:
    """Refuse to start beside a run that publishes the same clock.

    Raises:
        RivalError: naming what keeps runs apart.
    """
    context = Context()
    with session(context, args=[]) as nodes:
        nodes.append(node := quiet_node("plan", context, namespace=namespace))
        started = time.monotonic()
        while (elapsed := time.monotonic() - started) < LEAVING:
            there = graph.count_clocks(node)
            if elapsed > DISCOVERY and not there:
                return
            time.sleep(POLL)
        raise graph.RivalError(node)


if __name__ == "__main__":
    leave(main())

"""Prints the plan of a launch as JSON: python -m roboaccord_ros.plan robot:=NAME scenario:=NAME.

launch/planner.py runs it and reads its output: with exit status 0 the last line of stdout is JSON,
with status 2 stderr has one line with the error. While the plan is made, a thread looks for another
run of the same names in the ROS domain, and the plan is refused if there is one.

DISCOVERY and LEAVING may be tuned; if they are too short, another run may be overlooked, or one
that has just ended refuses this one.
"""

from __future__ import annotations

import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from rclpy.context import Context
from roboaccord.contract import AccordError, guard
from roboaccord.scenario import users_code

from roboaccord_ros.graph.peers import RivalError, count_clocks
from roboaccord_ros.graph.process import exit_process, report_error
from roboaccord_ros.graph.spinning import POLL, quiet_node, session
from roboaccord_ros.plan.plan import make_plan
from roboaccord_ros.plan.request import Request

# s: time in which ROS discovers the nodes of another run. By choice: each launch waits so long, and
# a rival that is discovered later is refused by the simulator (peers.RIVAL_CHECKS).
DISCOVERY = 1.0
# s: time in which the nodes of a run that has just ended are gone, with a margin: 1.5 to end
# (run/processes.GRACE) and 1 for discovery.
LEAVING = 4.0


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
        return report_error(str(error), error)
    sys.stdout.write(json.dumps(plan) + "\n")
    return 0


def refuse_rival(namespace: str) -> None:
    """Check that no other run publishes the clock of a namespace.

    It returns after DISCOVERY as soon as no other clock is seen, and gives up after LEAVING.

    Raises:
        RivalError: that says how to separate two runs.
    """
    context = Context()
    with session(context) as nodes:
        node = quiet_node("plan", context, namespace=namespace)
        nodes.append(node)
        started = time.monotonic()
        while (elapsed := time.monotonic() - started) < LEAVING:
            rivals = count_clocks(node)
            if elapsed > DISCOVERY and not rivals:
                return
            time.sleep(POLL)
        raise RivalError(node)


if __name__ == "__main__":
    exit_process(main())

"""Print the plan of a launch as JSON: python -m roboaccord_ros.plan robot:=NAME scenario:=NAME."""

from __future__ import annotations

import json
import sys
from concurrent.futures import ThreadPoolExecutor

from roboaccord.contract.errors import AccordError
from roboaccord.contract.shown import guard
from roboaccord.scenario.user_code import users_code

from roboaccord_ros.graph.shell import complain, leave
from roboaccord_ros.plan.plan import make_plan
from roboaccord_ros.plan.request import Request
from roboaccord_ros.plan.rivals import refuse_rival


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


if __name__ == "__main__":
    leave(main())

"""The judge of a launch: it prints the verdict on the run's bag, in one line.

    python -m roboaccord_ros.run.judge BAG CHANGES

The verdict is that of `accord crosscheck BAG`. CHANGES is a JSON list of KEY=VALUE: the files of
the scenario, which a bag must not name itself. The verdict is the only line on stdout, by which a
launch knows that the bag was judged; status 1 means outside the tolerance (launch/processes.py).
Its words are in report/words.py of the core.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from roboaccord.bag import read_run
from roboaccord.contract import AccordError
from roboaccord.crosscheck import check_bag


def main(bag: str, changes: str) -> int:
    """Judge a bag, print the verdict, and return the status."""
    try:
        run = read_run(Path(bag))
        setup = run.setup([change for change in json.loads(changes) if change])
        verdict = check_bag(run, setup, resolved=False)
    except AccordError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    sys.stdout.write(f"{verdict.line()}\n")
    return 0 if verdict.ok else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

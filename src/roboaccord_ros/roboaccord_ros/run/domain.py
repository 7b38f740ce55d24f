"""Private ROS domains, so that runs on one machine are isolated from each other."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator

from roboaccord.contract.errors import AccordError

from roboaccord_ros.run.runtime_folder import open_file, runtime_folder

LAST_DOMAIN = 101  # above, the ports of DDS meet the ephemeral ports of Linux
DISCOVERY = "ROS_AUTOMATIC_DISCOVERY_RANGE"


@contextlib.contextmanager
def private_domain() -> Iterator[int]:
    """Reserve a domain, limit discovery to this machine, and undo both at the end.

    The search starts at a number derived from the process id; a locked file marks the domain as
    taken, and the lock goes with the process.

    Raises:
        AccordError: if every domain is taken.
    """
    with contextlib.ExitStack() as stack:
        domain = _reserve(stack)
        before = {name: os.environ.get(name) for name in (DISCOVERY, "ROS_DOMAIN_ID")}
        os.environ.update({DISCOVERY: "LOCALHOST", "ROS_DOMAIN_ID": str(domain)})
        try:
            yield domain
        finally:
            for name, value in before.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value


def _reserve(stack: contextlib.ExitStack) -> int:
    folder = stack.enter_context(runtime_folder())
    for offset in range(LAST_DOMAIN):
        domain = 1 + (os.getpid() + offset) % LAST_DOMAIN
        try:
            file = open_file(folder, f"domain_{domain}.lock")
        except OSError:
            continue
        stack.callback(os.close, file)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            continue
        return domain
    raise AccordError(f"all {LAST_DOMAIN} ROS domains of this machine are taken by running runs")

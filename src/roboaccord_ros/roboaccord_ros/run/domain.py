"""Private ROS domains, which isolate the runs of a machine from each other.

A domain is a number; nodes discover only nodes of their own domain. `private_domain` reserves a
domain by a claim, limits discovery to this machine, and removes shared memory that killed processes
have left. If the user has set ROS_AUTOMATIC_DISCOVERY_RANGE so that others can see runs, that range
and the user's domain are used instead.

Fixed for safety: a run stays on this machine unless the user opens it, and `remove_orphans` deletes
nothing that is in use or belongs to another user (test_disorder). Names of files are Fast DDS's.
MIN_AGE may be raised.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from roboaccord.contract import AccordError
from roboaccord.numerics import environment, private_folder

from roboaccord_ros.run.claim import claim

LAST_DOMAIN = 101  # higher domains have ports of DDS in the ephemeral range of Linux
# Environment variable for the range of discovery, and its value for this machine alone.
DISCOVERY, LOCAL = "ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST"
DOMAIN = "ROS_DOMAIN_ID"  # environment variable
SHARED_MEMORY = Path("/dev/shm")
# s: a younger file may belong to a segment that is just being made, which takes far less; what is
# left over is removed by a later run.
MIN_AGE = 1.0


@contextlib.contextmanager
def private_domain() -> Iterator[int]:
    """Reserve a domain, limit discovery to this machine, and undo both at the end.

    The search starts at a number derived from the process id. If the user has set the range of
    discovery, for example to `SUBNET`, that and the user's domain are kept, so that others can
    look.

    Raises:
        AccordError: if every domain is taken.
    """
    remove_orphans()
    redirect_logs()
    if is_open():
        if not (domain_text := os.environ.get(DOMAIN) or "0").isdecimal():
            raise AccordError(f"{DOMAIN}={domain_text} is not a number; unset it, or use 0 to 101")
        yield int(domain_text)
        return
    domain, reserved = _reserve()
    with reserved, environment({DISCOVERY: LOCAL, DOMAIN: str(domain)}):
        yield domain


def is_open() -> bool:
    """Return whether the user has opened runs to others, by the range of discovery."""
    return os.environ.get(DISCOVERY, LOCAL) not in (LOCAL, "OFF")


def announce(tell: Callable[[str], None]) -> None:
    """Tell in which domain a run can be discovered, if the user has opened it."""
    if is_open():
        domain, discovery = os.environ.get(DOMAIN) or "0", os.environ[DISCOVERY]
        tell(f"ROS is open: domain {domain}, {DISCOVERY}={discovery}")


def remove_orphans(folder: Path = SHARED_MEMORY, age: float = MIN_AGE) -> int:
    """Remove shared memory of Fast DDS whose process was killed; return the number of segments.

    Each segment has a lock file, which its process keeps locked and removes first. One that is
    being made is not locked yet; it is younger than `age` [s].
    """
    removed = 0
    for path in folder.glob("fastrtps_*"):
        name = path.name.removesuffix("_el")
        lock = folder / f"{name}_el"
        if path != lock and lock.exists():
            continue
        with contextlib.suppress(OSError):  # of another user, or gone already
            if time.time() - path.stat().st_mtime < age or path.stat().st_uid != os.getuid():
                continue
            file = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                for orphan in (folder / name, folder / f"sem.{name}_mutex", lock):
                    orphan.unlink(missing_ok=True)
                removed += 1
            finally:
                os.close(file)
    return removed


def _reserve() -> tuple[int, socket.socket]:
    """Return a free domain and the claim on it.

    Raises:
        AccordError: if all are in use.
    """
    for offset in range(LAST_DOMAIN):
        domain = 1 + (os.getpid() + offset) % LAST_DOMAIN
        if reserved := claim(f"private domain {domain}"):
            return domain, reserved
    raise AccordError(f"all {LAST_DOMAIN} ROS domains of this machine are in use: end other runs")


def redirect_logs() -> None:
    """Let ROS write its logs into a temporary folder if it cannot write into the home.

    Raises:
        AccordError: if it can write into neither.
    """
    if os.environ.get("ROS_LOG_DIR"):
        return
    with contextlib.suppress(RuntimeError, OSError):  # there may be no home
        logs = Path(os.environ.get("ROS_HOME") or Path.home() / ".ros", "log")
        logs.mkdir(parents=True, exist_ok=True)
        if os.access(logs, os.W_OK):
            return
    try:
        os.environ["ROS_LOG_DIR"] = str(private_folder() / "log")
    except OSError:
        raise AccordError("no folder for the logs of ROS can be written; set ROS_LOG_DIR") from None

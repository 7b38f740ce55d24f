"""Private ROS domains, so that runs on one machine are isolated from each other."""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from roboaccord.contract import AccordError
from roboaccord.numerics import private_folder

NAME = "roboaccord"
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_FILE = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
LAST_DOMAIN = 101  # above, the ports of DDS meet the ephemeral ports of Linux
DISCOVERY, LOCAL = "ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST"
DOMAIN = "ROS_DOMAIN_ID"
SHARED_MEMORY = Path("/dev/shm")
YOUNG = 1.0  # s


@contextlib.contextmanager
def private_domain() -> Iterator[int]:
    """Reserve a domain, limit discovery to this machine, and undo both at the end.

    The search starts at a number derived from the process id; a locked file marks the domain as
    taken, and the lock goes with the process. Where the user has set the range of
    discovery, for example to `SUBNET`, that and the user's domain are kept: others are to look on.

    Raises:
        AccordError: if every domain is taken.
    """
    remove_orphans()
    keep_logs()
    with contextlib.ExitStack() as stack:
        if is_open():
            yield int(os.environ.get(DOMAIN) or 0)
            return
        domain = _reserve(stack)
        before = {name: os.environ.get(name) for name in (DISCOVERY, DOMAIN)}
        os.environ.update({DISCOVERY: LOCAL, DOMAIN: str(domain)})
        try:
            yield domain
        finally:
            for name, value in before.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value


def is_open() -> bool:
    """Return whether the user has opened runs to others, by the range of discovery."""
    return os.environ.get(DISCOVERY, LOCAL) not in (LOCAL, "OFF")


def announce(tell: Callable[[str], None]) -> None:
    """Report from where a run can be discovered, if the user has opened it."""
    if is_open():
        domain, how_far = os.environ.get(DOMAIN) or "0", os.environ[DISCOVERY]
        tell(f"ROS is open: domain {domain}, {DISCOVERY}={how_far}")


def remove_orphans(folder: Path = SHARED_MEMORY, age: float = YOUNG) -> int:
    """Remove shared memory of Fast DDS whose process was killed; return how many segments.

    Each segment has a file beside it which its process keeps locked, and removes first; one that is
    being made is not locked yet, and is recognised by its age [s].
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
    raise AccordError(f"all {LAST_DOMAIN} ROS domains of this machine are in use: end other runs")


@contextlib.contextmanager
def runtime_folder() -> Iterator[int]:
    """Open our folder inside `XDG_RUNTIME_DIR`, the user's cache folder, or a temporary one.

    Yields:
        file descriptor of the folder, which belongs to this user and which nobody else can write.

    Raises:
        AccordError: if none is the user's own.
    """
    for place in _places():
        try:
            folder = _open(place)
        except OSError:
            continue
        try:
            yield folder
        finally:
            os.close(folder)
        return
    raise AccordError(
        "no folder for locks that is this user's own; set XDG_RUNTIME_DIR to one with mode 0700"
    )


def keep_logs() -> None:
    """Let ROS write its logs into a temporary folder where it cannot write into the home.

    Raises:
        AccordError: if it can write into neither.
    """
    if os.environ.get("ROS_LOG_DIR"):
        return
    try:
        logs = Path(os.environ.get("ROS_HOME") or Path.home() / ".ros", "log")
        logs.mkdir(parents=True, exist_ok=True)
        if os.access(logs, os.W_OK):
            return
    except (RuntimeError, OSError):  # there is no home
        pass
    try:
        os.environ["ROS_LOG_DIR"] = str(private_folder() / "log")
    except OSError:
        raise AccordError("no folder for the logs of ROS can be written; set ROS_LOG_DIR") from None


def open_file(folder: int, name: str) -> int:
    """Open a file of the folder for reading and writing, and make it if need be.

    Raises:
        OSError: if there is a link of that name.
    """
    return os.open(name, _FILE, 0o600, dir_fd=folder)


def _places() -> Iterator[Path]:
    if runtime := os.environ.get("XDG_RUNTIME_DIR"):
        yield Path(runtime)
    with contextlib.suppress(RuntimeError, OSError):  # there is no home
        place = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        yield place
    with contextlib.suppress(OSError):
        yield private_folder()


def _open(place: Path) -> int:
    """Open our folder inside another one that is the user's own; it must not be a link.

    Raises:
        OSError: if it cannot be had.
    """
    outer = os.open(place, _FOLDER)
    try:
        _check(outer, stat.S_IWOTH)  # homes are often writable for a group of one user
        with contextlib.suppress(FileExistsError):
            os.mkdir(NAME, 0o700, dir_fd=outer)
        folder = os.open(NAME, _FOLDER | os.O_NOFOLLOW, dir_fd=outer)
    finally:
        os.close(outer)
    try:
        _check(folder, stat.S_IWGRP | stat.S_IWOTH)
    except OSError:
        os.close(folder)
        raise
    return folder


def _check(folder: int, others: int) -> None:
    """Refuse a folder of another user, or one with any of the mode bits by which others write.

    Raises:
        PermissionError: if it is so.
    """
    found = os.fstat(folder)
    if found.st_uid != os.getuid() or found.st_mode & others:
        raise PermissionError

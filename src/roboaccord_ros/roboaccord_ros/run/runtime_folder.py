"""The user's private runtime folder for locks.

In the shared folder for temporary files, where anybody can plant a link under a name that can be
guessed, it is the last resort of who has no home, and refused if it is not the user's own.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from roboaccord.contract.errors import AccordError
from roboaccord.numerics.private import private_folder

NAME = "roboaccord"
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_FILE = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC


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

"""What this machine gives a process: cores, address space, a folder, an end with its parent.

LIBRARIES and PER_CORE are measured (the figures are beside them) and may be changed by measuring
again, when NumPy, SciPy or numba grow. PR_SET_PDEATHSIG is fixed by Linux. Keep `-P` in `python`
and the variable SAFE: by `-c` and `-m` Python looks for every module in the current folder first,
for its own library's, too, and test_safe_path puts such files there. `private_folder` must refuse a
folder of another user.
"""

from __future__ import annotations

import ctypes
import os
import resource
import shutil
import signal
import stat
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from zipfile import ZipFile

PR_SET_PDEATHSIG = 1  # of <linux/prctl.h>
LIBRARIES = 1_000_000_000  # bytes of address space: 757 MB were measured, and some stay free
PER_CORE = 100_000_000  # bytes: OpenBLAS, in NumPy and in SciPy, took 86 MB
SPARSE = 50_000  # objects between collections of garbage: as libraries load there is none
SAFE = "PYTHONSAFEPATH"  # environment variable: what `-P` is on the command line
_lock = threading.Lock()
_spender = threading.RLock()  # the limit is of all threads
_before = list[str]()  # of each `safe_path` that lasts: the variable as it was, "" for none


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def check_address_space(libraries: int = LIBRARIES) -> None:
    """Refuse a limit at which libraries crash as they load, or OpenBLAS retries for ever.

    Args:
        libraries: address space that they need without OpenBLAS's threads [bytes].

    Raises:
        MemoryError: with what to do.
    """
    limit, need = resource.getrlimit(resource.RLIMIT_AS)[0], libraries + PER_CORE * cores()
    if limit != resource.RLIM_INFINITY and limit < need:
        takes = f"which takes up to {need // 10**6} MB: raise the limit by ulimit -v"
        raise MemoryError(f"{limit // 10**6} MB of address space do not suffice for this, {takes}")


@contextmanager
def spending(memory: int) -> Iterator[None]:
    """Limit how much more address space this process may take in a `with` block [bytes].

    Threads wait for each other. Only Linux tells what is taken: elsewhere there is no limit.
    """
    if sys.platform != "linux":
        yield
        return
    with _spender:
        limits = soft, hard = resource.getrlimit(resource.RLIMIT_AS)
        pages = int(Path("/proc/self/statm").read_text("utf-8").split()[0])
        most = pages * resource.getpagesize() + memory
        most = most if soft == resource.RLIM_INFINITY else min(soft, most)
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_AS, limits)


def can_start_threads() -> bool:
    """Return whether OpenBLAS can start its threads; if not, it would interrupt the process."""
    over = threading.Event()
    try:
        for _ in range(cores()):
            threading.Thread(target=over.wait, daemon=True).start()
    except RuntimeError:
        return False
    finally:
        over.set()
    return True


def end_with(parent: int, number: int = signal.SIGKILL) -> None:
    """Let this process receive a signal when its parent ends, however that ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(number))
    if os.getppid() != parent:  # it has ended already
        os._exit(1)


def python(*words: str) -> list[str]:
    """Return the command line of a Python process, `-m` or `-c` and what follows."""
    return [sys.executable, "-P", *words]


@contextmanager
def safe_path() -> Iterator[None]:
    """Let libraries start Python processes safely in a `with` block, as pools of workers do."""
    with _lock:
        _before.append(os.environ.get(SAFE, ""))
        os.environ[SAFE] = "1"
    try:
        yield
    finally:
        with _lock:  # the first one that began may end first
            os.environ[SAFE] = _before.pop()


def private_folder() -> Path:
    """Return this user's temporary folder, in which nobody else can have written anything.

    Raises:
        OSError: if there is none.
    """
    folder = Path(tempfile.gettempdir(), f"roboaccord-{os.getuid()}")
    folder.mkdir(mode=0o700, exist_ok=True)
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o077:
        raise PermissionError(f"{folder} is not this user's alone")
    return folder


def unpacked(archive: Path) -> Path:
    """Return a folder with the contents of an archive, unpacked where it is not complete.

    Raises:
        OSError: if it cannot be written.
    """
    folder = private_folder() / f"{archive.stem}-{archive.stat().st_mtime_ns:x}"
    with ZipFile(archive) as file:
        if not all((folder / name).exists() for name in file.namelist()):
            partial = tempfile.mkdtemp(dir=folder.parent)
            file.extractall(partial)
            shutil.rmtree(folder, ignore_errors=True)  # a part is left where old files are removed
            try:
                Path(partial).rename(folder)
            except OSError:  # another process was faster
                shutil.rmtree(partial)
    return folder

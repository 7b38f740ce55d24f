"""What a process gets from this machine: cores, address space, a private folder, other processes.

    cores, can_start_threads               how many threads may run
    check_address_space, spending          how much memory is available; a limit for a while
    python, safe_path, end_with            Python processes, and their end with their parent
    private_folder, unpacked               temporary files that nobody else can have written

Python processes must not look for modules in the current folder: by `-c` and `-m` Python would do
so first, even for its own library's (test_safe_path). LIBRARIES and PER_CORE are measured, and may
be measured again when NumPy, SciPy or numba grow.
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
# bytes of address space that libraries need: 757 MB were measured, the rest is a reserve
LIBRARIES = 1_000_000_000
# bytes of address space for each core: OpenBLAS, in NumPy and in SciPy, took 86 MB
PER_CORE = 100_000_000
# Objects between two collections of garbage, 70 times Python's 700: fewer collections, because
# loading a library makes many objects and no garbage.
SPARSE = 50_000
SAFE = "PYTHONSAFEPATH"  # environment variable with the effect of Python's option -P
_path_lock = threading.Lock()
_memory_lock = threading.RLock()  # a limit of memory is that of all threads
_before = list[str]()  # value of SAFE before each `safe_path` that has not ended, "" for none


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def check_address_space(libraries: int = LIBRARIES) -> None:
    """Refuse a limit of address space at which libraries would crash, or OpenBLAS retry for ever.

    Args:
        libraries: address space that they need without OpenBLAS's threads [bytes].

    Raises:
        MemoryError: if the limit is too low; with what to do.
    """
    limit, need = resource.getrlimit(resource.RLIMIT_AS)[0], libraries + PER_CORE * cores()
    if limit != resource.RLIM_INFINITY and limit < need:
        takes = f"which takes up to {need // 10**6} MB: raise the limit by ulimit -v"
        raise MemoryError(f"{limit // 10**6} MB of address space do not suffice for this, {takes}")


@contextmanager
def spending(memory: int) -> Iterator[None]:
    """Limit the address space that this process may take in addition in a `with` block [bytes].

    Threads wait for each other. Only Linux tells how much is in use: elsewhere there is no limit.
    """
    if sys.platform != "linux":
        yield
        return
    with _memory_lock:
        limits = soft, hard = resource.getrlimit(resource.RLIMIT_AS)
        pages = int(Path("/proc/self/statm").read_text("utf-8").split()[0])
        limit = pages * resource.getpagesize() + memory
        limit = limit if soft == resource.RLIM_INFINITY else min(soft, limit)
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_AS, limits)


def can_start_threads() -> bool:
    """Return whether a thread for each core can be started; if not, OpenBLAS would interrupt."""
    finished = threading.Event()
    try:
        for _ in range(cores()):
            threading.Thread(target=finished.wait, daemon=True).start()
    except RuntimeError:
        return False
    finally:
        finished.set()
    return True


def end_with(parent: int, number: int = signal.SIGKILL) -> None:
    """Let this process receive a signal when its parent ends, however that ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(number))
    if os.getppid() != parent:  # it has ended already
        os._exit(1)


def python(*words: str) -> list[str]:
    """Return the command line of a Python process: `words` are `-m` or `-c` and what follows."""
    return [sys.executable, "-P", *words]


@contextmanager
def safe_path() -> Iterator[None]:
    """Make Python processes that libraries start in a `with` block ignore the current folder."""
    with _path_lock:
        _before.append(os.environ.get(SAFE, ""))
        os.environ[SAFE] = "1"
    try:
        yield
    finally:
        with _path_lock:  # blocks of several threads may end in any order
            os.environ[SAFE] = _before.pop()


def private_folder() -> Path:
    """Return this user's temporary folder, to which nobody else can have written.

    Raises:
        OSError: if it cannot be made, or belongs to somebody else.
    """
    folder = Path(tempfile.gettempdir(), f"roboaccord-{os.getuid()}")
    folder.mkdir(mode=0o700, exist_ok=True)
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o077:
        raise PermissionError(f"{folder} is not this user's alone")
    return folder


def unpacked(archive: Path) -> Path:
    """Return a folder with the contents of an archive, which is unpacked if files are missing.

    Raises:
        OSError: if it cannot be written.
    """
    folder = private_folder() / f"{archive.stem}-{archive.stat().st_mtime_ns:x}"
    with ZipFile(archive) as file:
        if not all((folder / name).exists() for name in file.namelist()):
            partial = tempfile.mkdtemp(dir=folder.parent)
            file.extractall(partial)
            shutil.rmtree(folder, ignore_errors=True)  # incomplete, if the system removes old files
            try:
                Path(partial).rename(folder)
            except OSError:  # another process was faster
                shutil.rmtree(partial)
    return folder

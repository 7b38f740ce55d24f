"""Resources of a process on this machine: cores, address space, temporary files, child processes.

    cores, can_start_threads               number of threads that may run
    check_address_space, memory_limit      available memory, and a limit for a `with` block
    python, safe_path, end_with            Python processes that end with their parent
    private_folder, unpacked               temporary files that no other user can have written

Python processes must not search the current folder for modules: with `-c` and `-m` Python does so
first, even for those of its own library (test_safe_path). LIBRARIES_SPACE and SPACE_PER_CORE are
measured values, and may be measured again for new versions of NumPy, SciPy or numba.
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
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from zipfile import ZipFile

PR_SET_PDEATHSIG = 1  # of <linux/prctl.h>
# [bytes] Address space that libraries need: 757 MB were measured; the remainder is a reserve.
LIBRARIES_SPACE = 1_000_000_000
# [bytes] Additional address space per core: OpenBLAS, in NumPy and in SciPy, took 86 MB.
SPACE_PER_CORE = 100_000_000
# Number of new objects after which garbage is collected, 70 times Python's 700. Fewer collections
# save time, because loading a library makes many objects and no garbage.
GARBAGE_THRESHOLD = 50_000
SAFE_PATH = "PYTHONSAFEPATH"  # environment variable with the effect of Python's option -P
_path_lock = threading.Lock()
_memory_lock = threading.RLock()  # a limit of memory applies to all threads
# Values of SAFE_PATH before each `safe_path` that has not ended; "" for none.
_earlier_values = list[str]()


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def check_address_space(libraries: int = LIBRARIES_SPACE) -> None:
    """Refuse a limit of address space at which libraries would crash, or OpenBLAS retry for ever.

    Args:
        libraries: address space that they need without OpenBLAS's threads [bytes].

    Raises:
        MemoryError: if the limit is too low; with what to do.
    """
    limit, needed = resource.getrlimit(resource.RLIMIT_AS)[0], libraries + SPACE_PER_CORE * cores()
    if limit != resource.RLIM_INFINITY and limit < needed:
        takes = f"which takes up to {needed // 10**6} MB: raise the limit by ulimit -v"
        raise MemoryError(f"{limit // 10**6} MB of address space do not suffice for this, {takes}")


@contextmanager
def memory_limit(memory: int) -> Iterator[None]:
    """Limit the additional address space of this process in a `with` block.

    Blocks of several threads run one after another. Only Linux states how much address space is in
    use; on other systems there is no limit.

    Args:
        memory: address space that may be taken in addition [bytes].
    """
    if sys.platform != "linux":
        yield
        return
    with _memory_lock:
        soft, hard = resource.getrlimit(resource.RLIMIT_AS)
        pages = int(Path("/proc/self/statm").read_text("utf-8").split()[0])  # in use
        limit = pages * resource.getpagesize() + memory
        limit = limit if soft == resource.RLIM_INFINITY else min(soft, limit)
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


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
    """Let this process receive a signal when its parent ends for any reason.

    Args:
        parent: number of the parent process.
        number: number of the signal.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(number))
    if os.getppid() != parent:  # the parent has ended already
        os._exit(1)


def python(*words: str) -> list[str]:
    """Return the command line of a Python process: `words` are `-m` or `-c` and what follows."""
    return [sys.executable, "-P", *words]


@contextmanager
def environment(values: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables in a `with` block, and restore or remove them at its end."""
    before = {name: os.environ[name] for name in values if name in os.environ}
    os.environ.update(values)
    try:
        yield
    finally:
        for name in values:
            os.environ.pop(name, None)
        os.environ.update(before)


@contextmanager
def safe_path() -> Iterator[None]:
    """Make Python processes that libraries start in a `with` block ignore the current folder."""
    with _path_lock:
        _earlier_values.append(os.environ.get(SAFE_PATH, ""))
        os.environ[SAFE_PATH] = "1"
    try:
        yield
    finally:
        with _path_lock:  # blocks of several threads may end in any order
            os.environ[SAFE_PATH] = _earlier_values.pop()


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

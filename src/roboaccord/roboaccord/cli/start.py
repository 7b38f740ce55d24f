"""Start of the command `accord`: a process that supervises the one that works.

SOON may be tuned; how long a command has after a signal is GRACE in signals.py. Exit statuses (128
+ signal) and the one line on stderr stay, as shells and scripts rely on them.
PR_SET_CHILD_SUBREAPER and SI_KERNEL are fixed by Linux. No library may be imported here.
test_signals kills, hangs and crashes commands.

Native code that hangs or crashes cannot print a line, so a supervising process does: whatever
happens, the command ends soon after SIGTERM with one line, and its processes end with it.
"""

from __future__ import annotations

import ctypes
import gc
import math
import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from roboaccord.cli.signals import GRACE, MINDED, NO_PROCESS, TAKEN, WORDS
from roboaccord.numerics.machine import SPARSE, can_start_threads, end_with, python

PR_SET_CHILD_SUBREAPER = 36  # of <linux/prctl.h>
SI_KERNEL = 0x80  # of <asm-generic/siginfo.h>: from a terminal, to all its processes
SOON = 0.5  # s more than GRACE until the processes that a command has started are killed
WAITED_FOR = (*WORDS, TAKEN, signal.SIGCHLD)


def main() -> NoReturn:
    """Run the command line in a child, and end as it does."""
    if sys.getfilesystemencoding() != "utf-8" and os.environ.get("PYTHONUTF8") != "1":
        os.environ["PYTHONUTF8"] = "1"  # files are, and libraries read them by the locale
        os.execv(sys.executable, python(*sys.orig_argv[1:]))
    parent = os.getpid()
    is_minded = os.environ.get(MINDED) == f"{os.getppid()} {parent}"  # and executed anew by rclpy
    if sys.platform == "linux" and not is_minded:
        before = signal.pthread_sigmask(signal.SIG_BLOCK, WAITED_FOR)
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
        try:
            child = os.fork()
        except OSError:
            os._exit(_complain(NO_PROCESS, 2))
        if child:
            os._exit(mind(child))
        os.environ[MINDED] = f"{parent} {os.getpid()}"
        if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # as in a script's background
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # while libraries load
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        end_with(parent, signal.SIGTERM)
        if not can_start_threads():
            os._exit(_complain(NO_PROCESS, 2))
    gc.set_threshold(SPARSE)
    from roboaccord.cli.main import main as run

    run()


def mind(child: int) -> int:
    """Pass signals on to a process until it ends; return the exit status for it."""
    received, until = 0, math.inf
    while (ended := _reap(child)) is None:
        info = signal.sigtimedwait(WAITED_FOR, max(0.0, min(until - time.monotonic(), 3600.0)))
        if info and info.si_signo == TAKEN:
            received, until = 0, math.inf
        elif info and info.si_signo != signal.SIGCHLD:
            if info.si_code != SI_KERNEL:
                os.kill(child, info.si_signo)
            received, until = received or info.si_signo, min(until, time.monotonic() + GRACE)
        elif time.monotonic() >= until:
            os.kill(child, signal.SIGKILL)
    if received or ended < 0:
        now = time.monotonic()
        end_orphans(max(now + SOON, min(until, now + GRACE)))
    if ended >= 0:
        return ended
    number = signal.Signals(received or -ended)
    if number in WORDS:
        return _complain(WORDS[number], 128 + number)
    return _complain(f"ended by {number.name}; is there enough memory, and room in /dev/shm?", 2)


def end_orphans(until: float) -> None:
    """End the processes that an ended process leaves behind, but for a browser that it opened.

    Some tidy up once all others have ended; they may take until a time of the monotonic clock [s].
    """
    for number, limit in ((signal.SIGTERM, until), (signal.SIGKILL, until + SOON)):
        for orphan in (orphans := _orphans()):
            with suppress(ProcessLookupError):
                os.kill(orphan, number)
        while orphans and _orphans() and time.monotonic() < limit:
            signal.sigtimedwait(WAITED_FOR, 0.02)
            _reap(0)


def _orphans() -> list[int]:
    """Return the processes of this session that are children of this process now."""
    with suppress(OSError):
        children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
        return [int(child) for child in children if os.getsid(int(child)) == os.getsid(0)]
    return []


def _reap(child: int) -> int | None:
    """Reap ended processes; return the exit code of the child, or None while it runs."""
    code = None
    with suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            if ended[0] == child:
                code = os.waitstatus_to_exitcode(ended[1])
    return code


def _complain(message: str, status: int) -> int:
    sys.stderr.write(f"accord: {message}\n")
    sys.stderr.flush()
    return status


if __name__ == "__main__":
    main()

"""Start of the command `accord`: a process that supervises the one that works.

Native code of a library that hangs or crashes takes Python with it, so that the command cannot
print an error. So `main` forks: the child runs the command (main.py), and the parent runs
`supervise`, which passes signals on to the child, kills it when it has not ended GRACE after a
signal, prints the one line on stderr for it, and ends the processes that the child has left behind.
On Linux the parent adopts these, for it is their "subreaper" [prctl(2)].

Exit statuses (128 + signal) and the line on stderr stay, as scripts rely on them. No library may be
imported here. test_signals kills, hangs and crashes commands.
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

from roboaccord.cli.signals import GOES_ON, GRACE, NO_PROCESS, SUPERVISED, WORDS
from roboaccord.numerics.machine import GARBAGE_THRESHOLD, can_start_threads, end_with, python

PR_SET_CHILD_SUBREAPER = 36  # of <linux/prctl.h>
SI_KERNEL = 0x80  # of <asm-generic/siginfo.h>: the terminal sent it, to the child as well
# s after the end of a command until processes that it started are killed: ample for a signal to
# arrive, and a delay that users hardly notice.
ORPHAN_GRACE = 0.5
AWAITED = (*WORDS, GOES_ON, signal.SIGCHLD)  # signals for which the parent waits
# s: longest wait for a signal, as `sigtimedwait` takes no infinite one; any would do, for it waits
# again after that, and once an hour is no load.
LONGEST_WAIT = 3600.0
# s between checks whether processes that were left behind have ended. By choice: no delay for a
# person, and at most 25 checks within ORPHAN_GRACE.
ORPHAN_CHECK_PERIOD = 0.02


def main() -> NoReturn:
    """Run the command line in a child process, and exit with its status."""
    if sys.getfilesystemencoding() != "utf-8" and os.environ.get("PYTHONUTF8") != "1":
        os.environ["PYTHONUTF8"] = "1"  # our files are UTF-8, and libraries read them by the locale
        os.execv(sys.executable, python(*sys.orig_argv[1:]))
    parent = os.getpid()
    # A child is supervised already if rclpy has executed it anew.
    is_supervised = os.environ.get(SUPERVISED) == f"{os.getppid()} {parent}"
    if sys.platform == "linux" and not is_supervised:
        # Signals are blocked until `supervise` waits for them.
        mask_before = signal.pthread_sigmask(signal.SIG_BLOCK, AWAITED)
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
        try:
            child = os.fork()
        except OSError:
            os._exit(_complain(NO_PROCESS, 2))
        if child:
            os._exit(supervise(child))
        os.environ[SUPERVISED] = f"{parent} {os.getpid()}"
        # Ctrl-C ends the child at once while libraries load; in the background of a script it is
        # ignored.
        if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask_before)
        end_with(parent, signal.SIGTERM)
        if not can_start_threads():
            os._exit(_complain(NO_PROCESS, 2))
    gc.set_threshold(GARBAGE_THRESHOLD)
    from roboaccord.cli.main import main as run

    run()


def supervise(child: int) -> int:
    """Supervise a child until it ends; return the exit status of the command."""
    received = 0  # number of the first signal
    kill_time = math.inf  # time of the monotonic clock at which the child is killed [s]
    while (code := _reap(child)) is None:
        wait_time = min(kill_time - time.monotonic(), LONGEST_WAIT)
        info = signal.sigtimedwait(AWAITED, max(0.0, wait_time))
        if info and info.si_signo == GOES_ON:
            received, kill_time = 0, math.inf  # the child goes on after its Ctrl-C
        elif info and info.si_signo != signal.SIGCHLD:
            if info.si_code != SI_KERNEL:  # else the child has it already
                os.kill(child, info.si_signo)
            received = received or info.si_signo
            kill_time = min(kill_time, time.monotonic() + GRACE)
        elif time.monotonic() >= kill_time:
            os.kill(child, signal.SIGKILL)
    if received or code < 0:
        now = time.monotonic()
        end_orphans(max(now + ORPHAN_GRACE, min(kill_time, now + GRACE)))
    if code >= 0:
        return code
    number = signal.Signals(received or -code)
    if number in WORDS:
        return _complain(WORDS[number], 128 + number)
    return _complain(f"ended by {number.name}; is there enough memory, and room in /dev/shm?", 2)


def end_orphans(kill_time: float) -> None:
    """End the processes that the child has left behind, but not a browser that it opened.

    Args:
        kill_time: time of the monotonic clock [s] from which on they are killed; some need a moment
            to tidy up.
    """
    attempts = ((signal.SIGTERM, kill_time), (signal.SIGKILL, kill_time + ORPHAN_GRACE))
    for number, deadline in attempts:
        orphans = _orphans()
        for orphan in orphans:
            with suppress(ProcessLookupError):
                os.kill(orphan, number)
        while orphans and _orphans() and time.monotonic() < deadline:
            signal.sigtimedwait(AWAITED, ORPHAN_CHECK_PERIOD)
            _reap(0)


def _orphans() -> list[int]:
    """Return the ids of the child processes in this session, adopted ones included."""
    with suppress(OSError):
        children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
        return [int(child) for child in children if os.getsid(int(child)) == os.getsid(0)]
    return []


def _reap(child: int) -> int | None:
    """Collect ended processes; return the child's exit code (negative: signal), None if it runs."""
    code = None
    with suppress(ChildProcessError):
        pid, status = os.waitpid(-1, os.WNOHANG)
        while pid:
            if pid == child:
                code = os.waitstatus_to_exitcode(status)
            pid, status = os.waitpid(-1, os.WNOHANG)
    return code


def _complain(message: str, status: int) -> int:
    """Print one line on stderr, and return the exit status."""
    sys.stderr.write(f"accord: {message}\n")
    sys.stderr.flush()
    return status


if __name__ == "__main__":
    main()

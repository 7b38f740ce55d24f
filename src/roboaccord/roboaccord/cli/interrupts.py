"""Handlers of SIGINT and SIGTERM: a command closes its files, and then the process ends.

`signals_handled` is the context in which `main` runs a command. Its handler raises
KeyboardInterrupt for SIGINT (Ctrl-C) and `Terminated` for SIGTERM, so that `finally` blocks close
files. Some libraries lose such an exception, for Python drops it in a callback or a destructor:
then it is raised again after RAISE_AGAIN, and after FORCED_END the process is ended without it.
`until_interrupted` is for work whose regular end is Ctrl-C.

Of signals.py, which start.py shares, are RECEIVED, the signals that arrived; WORDS, what is printed
at the end for each; GRACE, after which the supervising process kills this one; and `go_on`, which
forgets a Ctrl-C.

What must stay: exit statuses 130 and 143, and that the first signal counts (test_signals).
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import NoReturn

from roboaccord.cli.failures import complain
from roboaccord.cli.signals import GRACE, RECEIVED, WORDS, go_on
from roboaccord.contract.errors import Terminated

# s until a dropped exception is raised again: callbacks take less, and users do not notice it.
RAISE_AGAIN = 0.01
# s after SIGTERM at which the process ends itself: 0.4 s later than the supervising process of
# start.py, if there is one, kills it, which is ample time for that signal to arrive.
FORCED_END = GRACE + 0.4


@contextmanager
def until_interrupted() -> Iterator[None]:
    """Run a block that Ctrl-C ends regularly; SIGTERM ends the command as anywhere else."""
    try:
        yield
    except Terminated:
        raise
    except KeyboardInterrupt:
        go_on()


@contextmanager
def signals_handled() -> Iterator[list[signal.Signals]]:
    """Handle SIGINT and SIGTERM while a command runs; yield the list of signals received.

    SIGTERM ends a command as Ctrl-C does. The first signal counts: a second SIGTERM is ignored, so
    that it does not disturb the closing of files. Errors that threads and callbacks report after a
    signal are its consequence, and are not printed.
    """
    RECEIVED.clear()

    def end_process() -> None:
        leave(complain(WORDS[RECEIVED[0]], 128 + RECEIVED[0]))

    ending_timer = threading.Timer(FORCED_END, end_process)
    ending_timer.daemon = True  # it ends the process where a library loses the exception

    def raise_interrupt(number: int, _: FrameType | None) -> None:
        RECEIVED.append(signal.Signals(number))
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        signal.signal(number, signal.SIG_IGN)
        with suppress(RuntimeError):  # where no thread can be started, there is no timer
            ending_timer.start()
        raise Terminated

    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, raise_interrupt)
    signal.signal(signal.SIGTERM, raise_interrupt)
    hooks_before = sys.unraisablehook, threading.excepthook
    sys.unraisablehook = _report_unraisable
    threading.excepthook = _report_thread_error
    try:
        yield RECEIVED
    finally:
        ending_timer.cancel()
        sys.unraisablehook, threading.excepthook = hooks_before
        for number in (*WORDS, signal.SIGALRM):  # the interpreter ends now
            signal.signal(number, signal.SIG_IGN)


def _report_unraisable(lost: sys.UnraisableHookArgs) -> None:
    """Raise an interrupt again, by a timer, that Python drops in a callback or destructor."""
    if isinstance(lost.exc_value, KeyboardInterrupt):
        error_class = type(lost.exc_value)  # KeyboardInterrupt, or Terminated

        def raise_again(*_: object) -> NoReturn:
            raise error_class

        signal.signal(signal.SIGALRM, raise_again)
        signal.setitimer(signal.ITIMER_REAL, RAISE_AGAIN)
    elif not RECEIVED:
        sys.__unraisablehook__(lost)


def _report_thread_error(error: threading.ExceptHookArgs) -> None:
    """Report an error of a thread, unless a signal caused it."""
    if not RECEIVED:
        threading.__excepthook__(error)


def leave(status: int) -> NoReturn:
    """End the process at once, without waiting for interrupted pools of processes."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(status)

"""What SIGINT and SIGTERM do to a command: it closes its files, then the process ends.

AGAIN and LAST may be tuned. The exit statuses 130 and 143 are fixed, as are the rules that the
first signal counts and that Ctrl-C is the regular end of what lasts until then (test_signals).
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from types import FrameType
from typing import NoReturn

from roboaccord.cli.failures import complain
from roboaccord.cli.signals import GRACE, RECEIVED, WORDS, go_on
from roboaccord.contract import errors
from roboaccord.contract.errors import Terminated

AGAIN = 0.01  # s until what was dropped is raised once more
LAST = GRACE + 0.4  # s; by then a supervising process, if there is one, has killed this one


@contextmanager
def until_interrupted() -> Iterator[None]:
    """Do what lasts until Ctrl-C, which is its regular end; SIGTERM is not."""
    try:
        yield
    except Terminated:
        raise
    except KeyboardInterrupt:
        go_on()


@contextmanager
def minded() -> Iterator[list[signal.Signals]]:
    """Let SIGTERM end a command as Ctrl-C does; yield the list that it is then in.

    The first signal counts: a second SIGTERM does not disturb what closes files. What a library
    makes of the exception, whose threads it stops, is not reported.
    """
    RECEIVED.clear()
    last = threading.Timer(LAST, lambda: leave(complain(WORDS[RECEIVED[0]], 128 + RECEIVED[0])))
    last.daemon = True  # a library may lose the exception

    def end(number: int, _: FrameType | None) -> None:
        RECEIVED.append(signal.Signals(number))
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        signal.signal(number, signal.SIG_IGN)
        with suppress(RuntimeError):  # no thread can be started
            last.start()
        raise errors.Terminated

    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, end)
    signal.signal(signal.SIGTERM, end)
    before = sys.unraisablehook, threading.excepthook
    sys.unraisablehook, threading.excepthook = _in_a_callback, _in_a_thread
    try:
        yield RECEIVED
    finally:
        last.cancel()
        sys.unraisablehook, threading.excepthook = before
        for number in (*WORDS, signal.SIGALRM):  # what is left is the end of the interpreter
            signal.signal(number, signal.SIG_IGN)


def _in_a_callback(lost: sys.UnraisableHookArgs) -> None:
    """Raise once more, in a moment, an interrupt that Python drops in a callback or destructor."""
    if isinstance(lost.exc_value, KeyboardInterrupt):
        signal.signal(signal.SIGALRM, partial(_raise, lost.exc_type))
        signal.setitimer(signal.ITIMER_REAL, AGAIN)
    elif not RECEIVED:
        sys.__unraisablehook__(lost)


def _raise(kind: type[BaseException], *_: int | FrameType | None) -> NoReturn:
    raise kind


def _in_a_thread(error: threading.ExceptHookArgs) -> None:
    if not RECEIVED:
        threading.__excepthook__(error)


def leave(status: int) -> NoReturn:
    """End the process at once: pools that were interrupted are not waited for."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(status)

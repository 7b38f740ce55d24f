"""Supervision of a user's controller: exceptions and time-outs become errors in one line.

A controller may be code of a user that never returns. `Watch` supervises its calls: a thread checks
every POLL_PERIOD whether the same call is still running. One that takes too long is ended by the
exception `CallTimeout` in the thread that made it: in the main thread at once, by a signal; in any
other thread as soon as Python code runs there again, such as after a `sleep`. A compiled kernel
that never returns cannot be ended in this way. Time in which numba compiles, or in which the
process was stopped, does not count, and must not (test_loop).

TIMEOUT and START_TIMEOUT are defaults of `--timeout` and of functions.
"""

from __future__ import annotations

import ctypes
import math
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from roboaccord.contract.errors import AccordError, LockstepError
from roboaccord.numerics.jit import is_compiling
from roboaccord.scenario.user_code import line_of, place_of

TIMEOUT = 60.0  # s of wall time that a controller may take for an answer: ample for a busy machine
START_TIMEOUT = 60.0  # s of wall time in which a controller must be made, and reset: as TIMEOUT
SIGNAL = signal.SIGURG  # ignored by default, so that one which arrives late does no harm
POLL_PERIOD = 0.05  # s between checks: short compared with a time-out, and no load
# s after which the exception is raised again in a call that has caught it. By choice: time to tidy
# up in, and hardly a delay after TIMEOUT.
RETRY_DELAY = 1.0


class CallTimeout(BaseException):
    """Raised in a call that takes too long; `except Exception` does not catch it."""


class Watch:
    """Ends calls that take too long; the caller adds 1 to `calls` before each call and after it.

    Checks are counted instead of seconds, so that time in which the process was stopped does not
    count; nor does time in which numba compiles, as it may in a first call.

    Args:
        timeout: how long a call may take [s of wall time]; infinite for no limit.

    Attributes:
        calls: odd while a call is running.
    """

    def __init__(self, timeout: float) -> None:
        self.timeout = timeout
        self.calls = 0
        self._late_call = -1  # value of `calls` during the call that takes too long
        self._stopped = threading.Event()
        self._caller = threading.current_thread()  # which makes the calls
        self._old_handler: Any = None  # of SIGNAL, if that is the main thread

    def __enter__(self) -> Watch:
        """Begin to watch, and return the watch."""
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop watching."""
        self.stop()

    def start(self) -> None:
        """Begin to watch the calls that this thread makes."""
        if self.timeout < math.inf:
            is_compiling()  # it notices compilation from its first call on
            self._caller = threading.current_thread()
            if self._caller is threading.main_thread():
                self._old_handler = signal.signal(SIGNAL, self._on_signal)
            threading.Thread(target=self._check_calls, name="controller-watch", daemon=True).start()

    def stop(self) -> None:
        """Stop watching."""
        self._stopped.set()
        if self._old_handler is not None and signal.getsignal(SIGNAL) == self._on_signal:
            signal.signal(SIGNAL, self._old_handler)

    def _check_calls(self) -> None:
        """Check in a thread of its own whether a call has been running for too long."""
        interval = min(POLL_PERIOD, 0.25 * self.timeout)
        current_call, checks = 0, 0
        while not self._stopped.wait(interval):
            # Another call, or none, is running: count anew.
            if self.calls != current_call or not current_call % 2:
                current_call, checks = self.calls, 0
            elif not is_compiling():
                checks += 1
            if checks * interval > self.timeout:
                self._late_call = current_call
                checks = max(0, checks - round(RETRY_DELAY / interval))
                self._end_call()

    def _end_call(self) -> None:
        """Raise `CallTimeout` in the thread whose call is late."""
        ident = self._caller.ident
        assert ident is not None
        if self._old_handler is not None:
            signal.pthread_kill(ident, SIGNAL)
        elif self.calls == self._late_call:
            kind = ctypes.py_object(CallTimeout)
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(ident), kind)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        """Raise `CallTimeout` in the main thread, if the late call is still running."""
        if self.calls == self._late_call:
            raise CallTimeout
        if callable(self._old_handler):
            self._old_handler(number, frame)


@contextmanager
def starting(action: str, timeout: float = START_TIMEOUT) -> Iterator[None]:
    """Run a block that makes or resets a controller.

    Args:
        action: name of what the block does, for the message.
        timeout: how long it may take [s of wall time].

    Raises:
        AccordError: if it takes longer, raises anything, or tries to end the process.
    """
    with Watch(timeout) as watch:
        watch.calls += 1
        try:
            yield
        except AccordError:
            raise
        except CallTimeout:
            raise LockstepError(f"{action} takes more than {timeout:g} s") from None
        except BaseException as error:
            raise AccordError(f"{action} {line_of(error)}{place_of(error)}") from error
        finally:
            watch.calls += 1

"""Supervision of controllers: exceptions and time-outs of user code as one-line errors.

TIMEOUT and START_TIMEOUT, defaults that the option `--timeout` and functions override, and POLL and
AGAIN may be tuned. SIGNAL must be one that is ignored by default. Time in which numba compiles, or
the process was stopped, does not count, and must not (test_loop).

A thread looks every POLL seconds whether a call still runs, and ends one that takes too long by an
exception in the thread that made it: in the main thread at once, by a signal; in any other thread
as soon as Python code runs there again, as after a `sleep`. A compiled kernel that never returns
cannot be ended in this way.
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

TIMEOUT = 60.0  # s of wall time that a controller may take for an answer; a busy machine is slow
START_TIMEOUT = 60.0  # s of wall time that it may take to be made, and to be reset
SIGNAL = signal.SIGURG  # ignored by default, so one that comes late does no harm
POLL = 0.05  # s between looks: short beside any time-out, and no load
AGAIN = 1.0  # s after which a call that caught the exception gets another one


class Silence(BaseException):
    """Ends a call that takes too long; no `except Exception` in a controller catches it."""


class Watch:
    """Ends calls that take too long: add 1 to `calls` before each, and 1 after it.

    Looks are counted, not seconds, so that a process that was stopped is not silent. Time in which
    numba compiles, as it may in a first call, does not count either.

    Args:
        timeout: how long a call may take [s of wall time]; infinite for no limit.

    Attributes:
        calls: odd while a call goes on, which `Silence` then ends.
    """

    def __init__(self, timeout: float) -> None:
        self.timeout, self.calls = timeout, 0
        self._late = -1
        self._over = threading.Event()
        self._before: Any = None

    def __enter__(self) -> Watch:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Begin to watch the calls of this thread."""
        if self.timeout < math.inf:
            is_compiling()  # counts from the first call on
            self._caller = threading.current_thread()
            if self._caller is threading.main_thread():
                self._before = signal.signal(SIGNAL, self._on_signal)
            threading.Thread(target=self._look, name="controller-watch", daemon=True).start()

    def stop(self) -> None:
        """Stop watching."""
        self._over.set()
        if self._before is not None and signal.getsignal(SIGNAL) == self._on_signal:
            signal.signal(SIGNAL, self._before)

    def _look(self) -> None:
        poll = min(POLL, 0.25 * self.timeout)
        seen, looks = 0, 0
        while not self._over.wait(poll):
            if self.calls != seen or not seen % 2:
                seen, looks = self.calls, 0
            elif not is_compiling():
                looks += 1
            if looks * poll > self.timeout:
                self._late, looks = seen, max(0, looks - round(AGAIN / poll))
                self._end_call()

    def _end_call(self) -> None:
        ident = self._caller.ident
        assert ident is not None
        if self._before is not None:
            signal.pthread_kill(ident, SIGNAL)
        elif self.calls == self._late:
            kind = ctypes.py_object(Silence)
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(ident), kind)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self.calls == self._late:
            raise Silence
        if callable(self._before):
            self._before(number, frame)


@contextmanager
def starting(what: str, timeout: float = START_TIMEOUT) -> Iterator[None]:
    """Run code that makes or resets a controller.

    Args:
        what: what is done, for the message.
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
        except Silence:
            raise LockstepError(f"{what} takes more than {timeout:g} s") from None
        except BaseException as error:
            raise AccordError(f"{what} {line_of(error)}{place_of(error)}") from error
        finally:
            watch.calls += 1

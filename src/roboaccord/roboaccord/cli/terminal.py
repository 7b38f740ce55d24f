"""The keys that a person types in a terminal, or that come through a pipe.

`accord teleop` drives a robot by single keys, whereas a terminal normally passes on whole lines,
and shows them. `terminal_keys` is the context in which stdin is read key by key instead. At its end
the terminal is as it was before, whatever ends the process (test_teleop).
"""

from __future__ import annotations

import os
import re
import select
import signal
import sys
import termios
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from roboaccord.cli.signals import go_on
from roboaccord.contract.errors import Terminated

STDIN = 0  # file descriptor
# Indices of the settings that `termios.tcgetattr` returns.
LOCAL_MODES, CONTROL_CHARACTERS = 3, 6
ARROWS = {"A": "up", "B": "down", "C": "right", "D": "left"}  # last byte of an escape sequence
END = "\x04"  # ASCII end of transmission, Ctrl-D: the input has ended
_KEY = re.compile(r"\x1b[\[O]([A-D])|.", re.DOTALL)  # an arrow, or any other character
_END_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # signals that end the process

# A function that returns the keys since its last call.
KeyReader = Callable[[], list[str]]


@contextmanager
def terminal_keys() -> Iterator[KeyReader]:
    """Read keys from stdin as they are typed, without echo; a pipe is read too.

    Yield a function that returns the keys since its last call; the last key is `END`. A signal that
    ends the process counts as the key q; a second one, before q is read, interrupts. The terminal
    is restored at the end, whatever ends the block.
    """
    pending: list[str] = []
    end_signals: list[int] = []
    is_open = sys.stdin is not None  # without stdin, descriptor 0 may be any file

    def read() -> list[str]:
        """Return the keys since the last call."""
        nonlocal is_open
        keys = list(pending)
        pending.clear()
        while is_open and (data := _read_available()) is not None:
            is_open = bool(data)
            matches = _KEY.finditer(data.decode(errors="ignore"))
            keys += [ARROWS.get(match[1] or "", match[0]) for match in matches]
        return keys if is_open else [*keys, END]

    def press_q(number: int, _: FrameType | None) -> None:
        """Treat a signal as the key q."""
        if pending:  # q was not read: a second signal
            raise Terminated if number == signal.SIGTERM else KeyboardInterrupt
        pending.append("q")
        end_signals.append(number)
        if number == signal.SIGINT:
            go_on()

    handlers_before = {number: signal.signal(number, press_q) for number in _END_SIGNALS}
    try:
        with _raw_mode():
            yield read
        if signal.SIGTERM in end_signals:
            raise Terminated
    finally:
        for number, handler in handlers_before.items():
            signal.signal(number, handler)


def _read_available() -> bytes | None:
    """Return the bytes that wait on stdin: None if there are none, b"" at the end of input."""
    try:
        return os.read(STDIN, 1024) if select.select([STDIN], [], [], 0.0)[0] else None
    except OSError:  # the terminal has been closed
        return b""


@contextmanager
def _raw_mode() -> Iterator[None]:
    """Put the terminal into the mode that passes on each character, without echo and Ctrl-Z."""
    if not os.isatty(STDIN):
        yield
        return
    saved = termios.tcgetattr(STDIN)
    raw = termios.tcgetattr(STDIN)
    raw[LOCAL_MODES] &= ~(termios.ICANON | termios.ECHO)
    raw[CONTROL_CHARACTERS] = [*raw[CONTROL_CHARACTERS]]
    raw[CONTROL_CHARACTERS][termios.VSUSP] = b"\0"
    termios.tcsetattr(STDIN, termios.TCSADRAIN, raw)
    try:
        yield
    finally:
        with suppress(termios.error):
            termios.tcsetattr(STDIN, termios.TCSAFLUSH, saved)

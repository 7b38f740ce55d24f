"""Start of the command `accord`: a signal while libraries load ends it without a traceback."""

from __future__ import annotations

import os
import signal
import sys
from typing import Any, NoReturn

from roboaccord.cli.endings import WORDS


def main() -> NoReturn:
    """Load the command line and run it."""
    for number in WORDS:
        if signal.getsignal(number) is not signal.SIG_IGN:  # as in the background of a script
            signal.signal(number, _end)
    from roboaccord.cli.main import main as run

    run()


def _end(number: int, _: Any) -> None:
    sys.stderr.write(f"accord: {WORDS[signal.Signals(number)]}\n")
    sys.stderr.flush()
    os._exit(128 + number)


if __name__ == "__main__":
    main()

"""What a signal that ends a command is called."""

from __future__ import annotations

import signal

WORDS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}

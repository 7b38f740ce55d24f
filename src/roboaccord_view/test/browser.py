"""Headless Chromium for tests of pages: its console, its screenshots, and clicks in it."""

from __future__ import annotations

import base64
import contextlib
import io
import json
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image
from websockets.sync.client import connect

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
FLAGS = ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars",
         "--enable-unsafe-swiftshader", "--use-angle=swiftshader", "--remote-debugging-port=0",
         "--remote-allow-origins=*", "--no-first-run")  # fmt: skip
START = 60.0  # s of wall time


class Page:
    """A page in Chromium, over the DevTools protocol.

    Attributes:
        problems: errors of the console and exceptions.
    """

    def __init__(self, address: str) -> None:
        self._socket = connect(address, max_size=None)
        self._count = 0
        self.problems: list[str] = []
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **given: Any) -> dict[str, Any]:
        """Return the answer to a command; what happens meanwhile is noted."""
        self._count += 1
        self._socket.send(json.dumps({"id": self._count, "method": method, "params": given}))
        while (message := json.loads(self._socket.recv(timeout=START))).get("id") != self._count:
            self._note(message)
        assert "error" not in message, message
        return dict(message["result"])

    def go_on(self, seconds: float) -> None:
        """Let the page go on, noting what happens [s of wall time]."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0.0:
            with contextlib.suppress(TimeoutError):
                self._note(json.loads(self._socket.recv(timeout=left)))

    def open(self, url: str) -> None:
        self.call("Page.navigate", url=url)

    def run(self, script: str) -> Any:
        """Return the value of an expression of JavaScript."""
        return self.call("Runtime.evaluate", expression=script, returnByValue=True)["result"].get(
            "value"
        )

    def picture(self) -> NDArray[np.uint8]:
        """Return what is seen (height, width, 3)."""
        data = self.call("Page.captureScreenshot", format="png")["data"]
        return np.asarray(Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB"))

    def _note(self, message: dict[str, Any]) -> None:
        kind, given = message.get("method", ""), message.get("params", {})
        if kind == "Runtime.exceptionThrown":
            self.problems.append(json.dumps(given["exceptionDetails"]))
        elif kind == "Runtime.consoleAPICalled" and given["type"] == "error":
            self.problems.append(json.dumps(given["args"]))
        elif kind == "Log.entryAdded" and given["entry"]["level"] == "error":
            self.problems.append(json.dumps(given["entry"]))


@contextlib.contextmanager
def browser(folder: Path, size: tuple[int, int] = (960, 540)) -> Iterator[Page]:
    """Start Chromium with an empty page; skip the test where there is none."""
    if CHROMIUM is None:
        pytest.skip("chromium is not installed")
    command = [CHROMIUM, *FLAGS, f"--user-data-dir={folder}", f"--window-size={size[0]},{size[1]}"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as chrome:
        try:
            yield Page(_address(folder / "DevToolsActivePort"))
        finally:
            chrome.terminate()


def _address(file: Path) -> str:
    """Return the web socket of a new page, once Chromium has printed its port."""
    end = time.monotonic() + START
    while time.monotonic() < end:
        with contextlib.suppress(OSError, IndexError):
            port = file.read_text().split()[0]
            with urlopen(Request(f"http://127.0.0.1:{port}/json/new", method="PUT")) as answer:
                return str(json.load(answer)["webSocketDebuggerUrl"])
        time.sleep(0.05)
    raise TimeoutError("chromium does not start")

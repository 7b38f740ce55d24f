"""A page of a view, without a browser: what it gets and sends, as its server sees it."""

from __future__ import annotations

import contextlib
import socket
from typing import Any

import msgspec
import viser
import zstandard
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

PROTOCOL: Any = f"viser-v{viser.__version__}"
UPGRADE = ("Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
           "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
           f"Sec-WebSocket-Protocol: {PROTOCOL}")  # fmt: skip
CAMERA = {
    "type": "ViewerCameraMessage", "wxyz": [1.0, 0, 0, 0], "position": [1.0, 1, 1], "fov": 1.0,
    "near": 0.01, "far": 1000.0, "image_height": 9, "image_width": 16, "look_at": [0.0, 0, 0],
    "up_direction": [0.0, 0, 1],
}  # fmt: skip


def ask(port: int, *headers: str, path: str = "/") -> bytes:
    """Return the answer to a request on this machine, at most 64 kB of it."""
    found = b""
    request = "\r\n".join((f"GET {path} HTTP/1.1", *headers, "", "")).encode("latin1")
    with (
        socket.create_connection(("127.0.0.1", port), 60.0) as stream,
        contextlib.suppress(OSError),
    ):
        stream.sendall(request)
        while len(found) < 1 << 16 and b" 101 " not in found[:20]:
            if not (more := stream.recv(1 << 16)):
                break
            found += more
    return found


def page_at(url: str) -> ClientConnection:
    """Return the connection of the page at an address, which has sent its camera."""
    page = connect(
        url.replace("http", "ws"), origin=url, subprotocols=[PROTOCOL],  # type: ignore[arg-type]
        compression=None, max_size=None, close_timeout=1.0,
    )  # fmt: skip
    send(page, CAMERA)
    return page


def send(page: ClientConnection, message: Any) -> None:
    """Send a message or a frame, and wait until the server has read it."""
    with contextlib.suppress(ConnectionClosed, OSError):
        page.send(message if isinstance(message, bytes | str) else msgspec.msgpack.encode(message))
        page.ping(ack_on_close=True).wait(60.0)


def controls(page: ClientConnection) -> dict[str, dict[str, Any]]:
    """Return the controls that a new page gets, by identifier, with their `value`."""
    found: dict[str, dict[str, Any]] = {}
    kind = ""
    while kind != "ReplayDoneMessage":
        raw: Any = page.recv(timeout=60.0)
        packed = raw[16 : 16 + int.from_bytes(raw[8:16], "little")]
        unpacked = zstandard.ZstdDecompressor().decompress(packed)
        for message in msgspec.msgpack.decode(unpacked)["messages"]:
            kind, uuid = message["type"], message.get("uuid", "")
            if "props" in message and "value" in message:
                found[uuid] = {**message["props"], "value": message["value"]}
            elif kind == "GuiUpdateMessage" and uuid in found:
                found[uuid] |= message["updates"]
            elif kind == "GuiRemoveMessage":
                found.pop(uuid, None)
    return found


def set_control(page: ClientConnection, uuid: str, **updates: Any) -> None:
    """Send new properties of a control, of which the page sends only `value`."""
    send(page, {"type": "GuiUpdateMessage", "uuid": uuid, "updates": updates})

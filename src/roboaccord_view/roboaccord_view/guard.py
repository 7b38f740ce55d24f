"""Guard of a view: only the view's own page may steer it, and only within the controls' limits.

Any page of the web can open a WebSocket to this machine, and viser, the library that serves the
view, accepts whatever it sends. So each handshake and each frame (message) passes here first: the
handshake is checked by its host, origin and protocol, a frame by its type and by the limits of the
control that it changes. viser has no place for such checks, so `open_server` replaces the function
of the library websockets with which viser starts its server.

A new kind of control is refused until `allowed` knows it, and nothing may be left to viser; a
change here needs a test in test_view_guard.py. MAX_FRAME, MAX_CONNECTIONS and LOG_INTERVAL may grow
with pages that need it.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import ipaddress
import logging
import re
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
import numpy as np
from roboaccord.contract import AccordError
from websockets.asyncio import server as websocket_server
from websockets.asyncio.server import ServerConnection
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

if TYPE_CHECKING:
    from viser import GuiInputHandle, ViserServer

Value: TypeAlias = bool | float | str | tuple[float, ...]
# Viser's handles by identifier.
Controls: TypeAlias = "Mapping[str, GuiInputHandle[Value]]"
Handler: TypeAlias = Callable[[ServerConnection], Awaitable[None]]
Answer: TypeAlias = Callable[[ServerConnection, Request], Response | None]

# Bytes; largest frame. The page's frames have less than 500; 16 kB are 32 times as much, for pages
# that grow.
MAX_FRAME = 1 << 14
# Connections at a time, those before the handshake included: ten pages with six each, as browsers
# open.
MAX_CONNECTIONS = 64
# s; between log lines on refusals, so that a flood does not fill the terminal: six a minute.
LOG_INTERVAL = 10.0
REPLACING_LOCK = threading.Lock()  # held while `open_server` has replaced websockets' function

_log = logging.getLogger(__name__)


class _Value(msgspec.Struct):
    """Changes of a control, of which only the new `value` is taken."""

    value: Value


class GuiUpdateMessage(msgspec.Struct, tag=True):
    """A new value of a control; other changes in a message are dropped.

    Args:
        uuid: viser's identifier of the control.
        updates: the new value.
    """

    uuid: str
    updates: _Value


class ViewerCameraMessage(msgspec.Struct, tag=True):
    """The camera of a page.

    Args:
        wxyz: orientation, a quaternion.
        position: of the camera [m].
        fov: vertical field of view [rad].
        near, far: distances between which objects are drawn [m].
        image_height, image_width: size of the view [pixels].
        look_at: point in the middle of the view [m].
        up_direction: direction that points upwards in the view.
    """

    wxyz: tuple[float, float, float, float]
    position: tuple[float, float, float]
    fov: float
    near: float
    far: float
    image_height: int
    image_width: int
    look_at: tuple[float, float, float]
    up_direction: tuple[float, float, float]


_DECODER = msgspec.msgpack.Decoder(GuiUpdateMessage | ViewerCameraMessage)


def clean(frame: bytes, controls: Controls) -> bytes | None:
    """Decode a frame, check it, and encode it again, with its value within its control's limits.

    Returns None if the frame is to be dropped, since its control does not take it.

    Args:
        frame: bytes that a page has sent.
        controls: viser's handles by identifier.

    Raises:
        ValueError, TypeError, RecursionError: if it is not a message of the page.
    """
    message = _DECODER.decode(frame)
    if isinstance(message, ViewerCameraMessage):
        if not np.isfinite(np.hstack(msgspec.structs.astuple(message))).all():
            raise ValueError("a camera is not finite")
    else:
        value = allowed(controls.get(message.uuid), message.updates.value)
        if value is None:
            return None
        message.updates.value = value
    return msgspec.msgpack.encode(message)


def allowed(control: GuiInputHandle[Value] | None, value: Value) -> Value | None:
    """Return a value within the limits of its control; None if the control does not take it."""
    # Kinds of controls in turn: check boxes, choices, and numbers or vectors with limits.
    if control is None or control.disabled:
        return None
    if isinstance(control.value, bool):
        return value if isinstance(value, bool) else None
    if isinstance(control.value, str):
        return value if value in getattr(control, "options", ()) else None
    low, high = getattr(control, "min", None), getattr(control, "max", None)
    if low is None or high is None or isinstance(value, bool | str):
        return None
    if np.shape(value) != np.shape(control.value) or not np.isfinite(value).all():
        return None
    clipped: Value = np.clip(value, low, high).tolist()
    return clipped


def open_server(host: str, port: int) -> ViserServer:
    """Return a server of viser on an address, guarded.

    Raises:
        AccordError: if this viser does not let itself be guarded.
        ImportError: if it is not installed.
    """
    import viser

    guard = Guard(host, f"viser-v{viser.__version__}")
    # viser looks up `serve` when it starts, and so starts the guard's.
    with REPLACING_LOCK, contextlib.redirect_stdout(io.StringIO()):  # viser prints a banner
        serve = websocket_server.serve
        websocket_server.serve = partial(guard.serve, serve)  # type: ignore[assignment,misc]
        try:
            server = viser.ViserServer(host=host, port=port, verbose=False)
        finally:
            websocket_server.serve = serve  # type: ignore[misc]
        controls = getattr(server.gui, "_gui_input_handle_from_uuid", None)
        if controls is None or not guard.is_used:
            server.stop()
            cure = "use that of requirements/demo.txt"
            raise AccordError(f"viser {viser.__version__} cannot be guarded: {cure}")
    guard.controls = controls
    server.gui.configure_theme(show_share_button=False)  # it would publish the view
    return server


class Guard:
    """Check handshakes and frames before viser sees them.

    Args:
        host: address of the server.
        protocol: of the pages of this viser.

    Attributes:
        controls: viser's handles by identifier.
        is_used: whether viser serves through this guard.
    """

    def __init__(self, host: str, protocol: str) -> None:
        machine = socket.gethostname().lower()
        first = machine.partition(".")[0]
        self._names = {"localhost", host.lower(), machine, first, f"{first}.local"}
        self._protocol = protocol
        self.controls: Controls = {}
        self.is_used = False
        self._silent_until = 0.0  # time until which refusals are not logged [s of the steady clock]
        self._unreported = 0  # number of refusals that were not logged since the last line

    def serve(
        self,
        serve: Callable[..., websocket_server.serve],
        handler: Handler,
        *where: Any,
        process_request: Answer = lambda *_: None,
        **options: Any,
    ) -> websocket_server.serve:
        """Call websockets' `serve` for viser, with this guard's checks before viser's functions.

        Args:
            serve: websockets' function.
            handler: viser's function for a connection.
            *where: address of the server.
            process_request: viser's answer to a handshake, None to accept it.
            **options: of `serve`.
        """
        self.is_used = True
        logger = logging.Logger("silent", logging.CRITICAL)  # else it logs tracebacks of handshakes
        check = partial(self._check_handshake, process_request)
        options |= {"create_connection": partial(_Connection, self), "process_request": check}
        options |= {"max_size": MAX_FRAME, "logger": logger}
        return serve(partial(self._handle, handler), *where, **options)

    def refusal(self, headers: Headers, *, is_socket: bool) -> str:
        """Return why a request is refused, or "" if it is accepted.

        Its header Host must be an address or a name of this machine: the owner of any other name
        could make it point here (DNS rebinding). A WebSocket must also come from the page of that
        host, which browsers state in the header Origin.
        """
        hosts, origins = headers.get_all("Host"), headers.get_all("Origin")
        host = hosts[0].lower() if len(hosts) == 1 else ""
        name = re.sub(r":\d+$", "", host)
        if not (name in self._names or _is_address(name.strip("[]"))):
            return f"{_shown(hosts)} is not this machine's name; use an address, or that of --host"
        if is_socket and origins not in ([f"http://{host}"], [f"https://{host}"]):
            return f"a page of {_shown(origins)} wants to steer the view of {_shown(hosts)}"
        return ""

    def log_refusal(self, reason: str) -> None:
        """Log a refusal, at most one in LOG_INTERVAL; later lines count those between."""
        if time.monotonic() < self._silent_until:
            self._unreported += 1
            return
        earlier = f" ({self._unreported} refused before)" if self._unreported else ""
        _log.warning("the view refuses: %s%s", reason, earlier)
        self._silent_until = time.monotonic() + LOG_INTERVAL
        self._unreported = 0

    def _check_handshake(
        self, viser_answer: Answer, connection: ServerConnection, request: Request
    ) -> Response | None:
        """Return viser's answer to a handshake, or a refusal (status 403)."""
        response = viser_answer(connection, request)
        if reason := self.refusal(request.headers, is_socket=response is None):
            self.log_refusal(reason)
            return connection.respond(403, f"{reason}\n")
        if response:  # no other page may show it in a frame, to be clicked unseen
            response.headers["Content-Security-Policy"] = "frame-ancestors 'self'"
        return response

    async def _handle(self, handler: Handler, connection: ServerConnection) -> None:
        """Let viser handle a connection, until a frame is refused."""
        if connection.subprotocol != self._protocol:  # viser would print a line for each
            self.log_refusal("a page of another version of viser; load it anew")
            await connection.close(1002, f"this is {self._protocol}: load the page anew")
            return
        try:
            await handler(connection)
        except (ValueError, TypeError, RecursionError) as error:  # of `clean`
            self.log_refusal(f"a frame that no page sends ({str(error)[:80]!r})")
            await connection.close(1007)


class _Connection(ServerConnection):
    """A connection whose frames a guard has checked before viser sees them."""

    def __init__(self, guard: Guard, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._guard = guard

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin a connection, or drop it if there are too many."""
        super().connection_made(transport)
        if len(self.server.handlers) > MAX_CONNECTIONS:
            self.transport.abort()

    async def recv(self, decode: bool | None = None) -> bytes:  # type: ignore[override]
        """Return the next frame that is not to be dropped, with values within their limits."""
        frame = None
        while frame is None:
            frame = clean(await super().recv(decode=False), self._guard.controls)
        return frame


def _is_address(name: str) -> bool:
    """Return whether a host is an IP address."""
    with contextlib.suppress(ValueError):
        return bool(ipaddress.ip_address(name))
    return False


def _shown(values: list[str]) -> str:
    """Return values of a header for a line, shortened."""
    return repr(", ".join(values)[:80])

"""A view is steered by its own page alone, within limits; what else comes costs a line."""

from __future__ import annotations

import math
import socket
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from roboaccord.contract.errors import AccordError

pytest.importorskip("viser", reason="viser is not installed")

import msgspec
from roboaccord_view import guard
from roboaccord_view.stage import Stage
from view_client import CAMERA, UPGRADE, ask, controls, page_at, send, set_control
from websockets.exceptions import ConnectionClosed

URDF = """<robot name="ball"><link name="base_link">
  <visual><geometry><sphere radius="1"/></geometry></visual></link></robot>"""
PORT = 18900
EVIL = "evil.example"


@pytest.fixture
def stage() -> Iterator[Stage]:
    stage = Stage(URDF, PORT)
    yield stage
    stage.close()


def port_of(stage: Stage) -> int:
    return int(stage.url.rpartition(":")[2])


def status(answer: bytes) -> int:
    return int(answer.split()[1])


def wait_until(done: Any) -> None:
    end = time.monotonic() + 60.0
    while not done():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_only_the_page_of_a_view_may_open_its_socket(stage: Stage) -> None:
    """Through a forwarded port, too; by another name, a page could be anybody's."""
    port = port_of(stage)
    hosts = (f"127.0.0.1:{port}", "localhost:9999", "[::1]:80", "192.168.7.9", socket.gethostname())
    for host in hosts:
        head = (f"Host: {host}", *UPGRADE)
        assert status(ask(port, f"Host: {host}")) == 200
        assert status(ask(port, *head, f"Origin: http://{host}")) == 101
        others = (f"http://{EVIL}", "null", f"http://{host}1", f"http://{host}.{EVIL}")
        for more in [[], *([f"Origin: {origin}"] for origin in others),
                     [f"Origin: http://{host}", f"Origin: http://{EVIL}"]]:  # fmt: skip
            assert status(ask(port, *head, *more)) == 403, more
    for host in (EVIL, f"localhost.{EVIL}", f"127.0.0.1.{EVIL}:{port}", "", f"localhost@{EVIL}"):
        assert status(ask(port, f"Host: {host}")) == 403
        assert status(ask(port, f"Host: {host}", *UPGRADE, f"Origin: http://{host}")) == 403
    assert status(ask(port, f"Host: {EVIL}", "Host: localhost")) == 403
    assert b"frame-ancestors 'self'" in ask(port, "Host: localhost")


def test_the_name_that_a_view_listens_on_is_its_own() -> None:
    request = guard.Headers(Host="LAB.example:80", Origin="http://lab.example:80")
    assert guard.Guard("lab.example", "").refusal(request, is_socket=True) == ""
    assert "LAB.example" in guard.Guard("0.0.0.0", "").refusal(request, is_socket=True)


def test_values_from_outside_stay_within_limits(stage: Stage) -> None:
    """A page may set but the value; a number without limits, and what is only shown, stay."""
    gui, seen = stage.server.gui, list[Any]()
    slider = gui.add_slider("angle", -0.436, 0.436, 1e-3, 0.0)
    slider.on_update(lambda event: seen.append(event.target.value))
    vector = gui.add_vector3("way", (0.0, 1.0, 0.0), min=(-1.0,) * 3, max=(1.0,) * 3)
    choice, clock = gui.add_dropdown("link", ("a", "b")), gui.add_text("at", "0 s", disabled=True)
    free, tick = gui.add_number("free", 1.0), gui.add_checkbox("play", True)
    last = gui.add_slider("last", 0, 99, 1, 0)
    cases = [
        (slider, 0.7, 0.436), (slider, -9, -0.436), (slider, 1e300, 0.436), (slider, 0.25, 0.25),
        *((slider, bad, 0.25) for bad in (math.nan, math.inf, True, "0.1", [0.1], [])),
        (vector, [0.5, 7.0, -7.0], (0.5, 1.0, -1.0)), (vector, [1.0], (0.5, 1.0, -1.0)),
        (vector, [math.nan, 0.0, 0.0], (0.5, 1.0, -1.0)), (choice, "b", "b"), (choice, "c", "b"),
        (choice, 0, "b"), (clock, "9 s", "0 s"), (free, 1e9, 1.0), (tick, 1, True),
        (tick, False, False),
    ]  # fmt: skip
    with page_at(stage.url) as page:
        for number, (control, value, expected) in enumerate(cases, 1):
            more = {"max": 1e9, "min": -1e9, "disabled": False, "options": ["c"]}
            set_control(page, control._impl.uuid, value=value, **more)
            set_control(page, last._impl.uuid, value=number)
            wait_until(lambda number=number: last.value == number)
            assert control.value == expected, value
        found = {c["label"]: c["value"] for c in controls(page).values()}
    assert (slider.max, clock.disabled, choice.options) == (0.436, True, ("a", "b"))
    wait_until(lambda: 0.25 in seen)
    assert {*seen} <= {0.436, -0.436, 0.25}
    assert found["link"] in ("a", "b")


GARBAGE = (b"", b"\xc1", b"\x91" * 9000, b"\xdd\xff\xff\xff\xff", "text", bytes(1 << 20),
           msgspec.msgpack.encode(CAMERA)[:-3], {**CAMERA, "fov": math.nan}, {**CAMERA, "wxyz": []},
           {"type": "ShareUrlRequest"}, {"type": 1}, {"uuid": "x"}, [], None)  # fmt: skip


def test_garbage_costs_one_line_and_the_page_goes_on(
    stage: Stage, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    with page_at(stage.url) as page:
        controls(page)
        for frame in GARBAGE:
            with page_at(stage.url) as other:
                send(other, frame)
                with pytest.raises(ConnectionClosed):
                    controls(other), other.recv(timeout=60.0)
        wait_until(lambda: len(stage.server.get_clients()) == 1)
        send(page, CAMERA)
        assert page.close_code is None
    assert len(caplog.records) == 1
    assert "the view refuses: a frame that no page sends" in caplog.text
    written = capfd.readouterr()
    assert not written.out and written.err.count("\n") <= 1


def test_a_viser_that_passes_the_guard_by_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "websocket_server", SimpleNamespace(serve=None))
    with pytest.raises(AccordError, match=r"^viser [\d.]+ cannot be guarded"):
        Stage(URDF, PORT + 50)
    with pytest.raises(ConnectionRefusedError):
        ask(PORT + 50, "Host: localhost")

"""Attack running views over the network: `python benchmarks/fuzz/network.py --seed 0 --count 200`.

An attack is made of the seed and its number. It got through if the view does what only its own page
may ask for, leaves a limit, prints more than a line, takes memory, or serves its page no more.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import random
import resource
import shutil
import socket
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[2] / "src/roboaccord_view/test"))
import viser
from network_view import View
from view_client import CAMERA, UPGRADE, ask, controls, page_at, send, set_control
from websockets.exceptions import ConnectionClosed

VIEWS = ("view snake", "view snake serpenoid --engine mujoco")
# KB that an attack may take: 1 MB are what 64 frames of 16 kB take (guard.py), the rest is for the
# server.
MEMORY = 64_000
MIB = 1 << 20
EVIL = "evil.example"  # RFC 2606
# What no control of a page sends: no numbers, huge ones, other types, lists of wrong lengths.
HOSTILE = [math.nan, math.inf, 1e300, -1e300, 1e9, 9, -9, "9", "", "x" * 9999, None, True, [], [9],
           [math.nan] * 3, [1e200] * 3, ["x"] * 3, {}, {"x": 1}, 1 << 63]  # fmt: skip


def foreign_origin(r: random.Random, view: View) -> str:
    near = f"127.0.0.1:{view.port + 1}", f"localhost:{view.port}", f"127.0.0.1.{EVIL}:{view.port}"
    origin = r.choice([*(f"http://{host}" for host in (EVIL, *near)), "null", "file://", "", None,
                       f"http://{EVIL}\r\nOrigin: {view.url}"])  # fmt: skip
    headers = [view.host, *UPGRADE, *([] if origin is None else [f"Origin: {origin}"])]
    return "it may steer" if b" 101 " in ask(view.port, *headers)[:20] else ""


def foreign_host(r: random.Random, view: View) -> str:
    host = r.choice([f"{EVIL}:{view.port}", EVIL, f"localhost.{EVIL}", f"127.0.0.1.{EVIL}", "",
                     f"localhost@{EVIL}", f"{EVIL}\r\nHost: localhost", "x" * 4000])  # fmt: skip
    more = (*UPGRADE, f"Origin: http://{host}") if r.random() < 0.5 else ()
    answer = ask(view.port, f"Host: {host}", *more)[:20]
    return "it is served" if b" 200 " in answer or b" 101 " in answer else ""


def paths(r: random.Random, view: View) -> str:
    up = r.choice(["../", "..%2f", "%2e%2e/", "..\\", "%252e%252e/", "....//", "/", "%00/../"])
    path = "/" + up * r.randrange(1, 12) + r.choice(["etc/passwd", "proc/self/environ", "x" * 5000])
    answer = ask(view.port, view.host, path=path)
    return "it reads a file" if b"root:" in answer or b"HOME=" in answer else ""


def frame_of_a_page(r: random.Random, view: View) -> str:
    answer = ask(view.port, view.host, f"Referer: http://{EVIL}/{r.random()}")
    return "" if b"frame-ancestors" in answer else "another page shows it in a frame"


def values(r: random.Random, view: View) -> str:
    with page_at(view.url) as page:
        uuid = r.choice([*controls(page), "x" * r.randrange(1, 9999)])
        for value in r.sample(HOSTILE, 5):
            set_control(page, uuid, value=value)
    return ""  # limits are looked at after each attack


def other_properties(r: random.Random, view: View) -> str:
    name = r.choice(["min", "max", "options", "disabled", "visible", "label", "sync_cb", "x"])
    with page_at(view.url) as page:
        uuid, before = r.choice([*controls(page).items()])
        for value in r.sample(HOSTILE, 3):
            set_control(page, uuid, **{name: value})
    with page_at(view.url) as page:
        after = controls(page).get(uuid, before)
    return f"it changes {name}" if after.get(name) != before.get(name) else ""


def garbage_frames(r: random.Random, view: View) -> str:
    frames = [r.randbytes(r.randrange(1, 4000)), "text", "", b"", b"\x91" * 9000, b"\xc1", [CAMERA],
              b"\x81\xa1a" * 3000, b"\xdd\xff\xff\xff\xff", b"\x89\xa4type\xb3View"]  # fmt: skip
    with page_at(view.url) as page:
        send(page, r.choice(frames))
    return ""


def other_messages(r: random.Random, view: View) -> str:
    names = [cls.__name__ for cls in viser._messages.Message.get_subclasses()]
    kind = r.choice([*(n for n in names if "ShareUrl" not in n), "x", "", None, 1, []])
    fields = r.choice([{}, CAMERA, {**CAMERA, r.choice([*CAMERA]): r.choice(HOSTILE)},
                       {"uuid": 1, "updates": []}, {"name": "/world", "owner": 1}])  # fmt: skip
    with page_at(view.url) as page:
        send(page, {**fields, "type": kind} if r.random() < 0.7 else fields)
    return ""


def oversized_frames(r: random.Random, view: View) -> str:
    with page_at(view.url) as page, contextlib.suppress(ConnectionClosed, OSError):
        page.send([bytes(MIB)] * r.randrange(1, 48))
        page.recv(timeout=2.0)
    return ""


def no_http(r: random.Random, view: View) -> str:
    data = r.choice([r.randbytes(r.randrange(1, 9999)), b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 999,
                     b"POST / HTTP/1.1\r\n\r\n", b"\x16\x03\x01\x02", b"\r\n" * 99])  # fmt: skip
    return flood(view, data, r.randrange(1, 5))


def floods(r: random.Random, view: View) -> str:
    start = f"GET / HTTP/1.1\r\n{view.host}\r\n"
    end = "\r\n".join((*UPGRADE, f"Origin: {r.choice([view.url, f'http://{EVIL}'])}", "", ""))
    data = r.choice(["", start, start + end, start + "\r\n"]).encode()
    return flood(view, data, r.choice([50, 300, 1500]))  # a process has 1024 files


def flood(view: View, data: bytes, count: int) -> str:
    """Open so many connections that read nothing."""
    with contextlib.ExitStack() as stack, contextlib.suppress(OSError):
        for _ in range(count):
            stack.enter_context(socket.create_connection(("127.0.0.1", view.port), 20)).send(data)
        time.sleep(0.5)
    return ""


KINDS: tuple[Callable[[random.Random, View], str], ...] = (
    foreign_origin, foreign_host, paths, frame_of_a_page, values, other_properties, garbage_frames,
    other_messages, oversized_frames, no_http, floods,
)  # fmt: skip


def attacks(count: int, seed: int) -> list[dict[str, Any]]:
    """Return a row for each of so many attacks: `kind`, `lines` printed, and `why` it succeeded."""
    limits, rows = resource.getrlimit(resource.RLIMIT_NOFILE), list[dict[str, Any]]()
    for k, words in enumerate(VIEWS):
        folder = Path(tempfile.mkdtemp(prefix="accord_network_"))
        view = View(words, folder)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, limits[1]), limits[1]))
        try:
            for i in range(k, count, len(VIEWS)):
                attack = KINDS[i // len(VIEWS) % len(KINDS)]
                result = one_attack(view, attack, random.Random(f"{seed}/{i}"))
                rows.append({"number": i, "kind": attack.__name__.replace("_", " "), **result})
                if view.process.poll() is not None:
                    view = View(words, folder)
            rows.append({"number": count, "kind": "Ctrl-C", "lines": 0, "why": view.close()})
        finally:
            view.process.kill()
            shutil.rmtree(folder, ignore_errors=True)
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    return rows


def one_attack(
    view: View, attack: Callable[[random.Random, View], str], r: random.Random
) -> dict[str, Any]:
    """Return the lines that an attack costs, and why it succeeded."""
    lines, memory = view.measure()
    try:
        why = attack(r, view)
    except (OSError, ConnectionClosed) as error:
        why = f"its own page is refused: {error!r:.60}"
    time.sleep(0.1)
    why = why or view.wrong()
    lines, memory = (
        after - before for after, before in zip(view.measure(), (lines, memory), strict=True)
    )
    many = f"{lines} lines" if lines > 1 else f"{memory // 1000} MB" if memory > MEMORY else ""
    return {"lines": lines, "why": why or many}


def report(rows: list[dict[str, Any]]) -> int:
    """Print attacks by class, and those that got through; return how many did."""
    from roboaccord.cli.console import make_table, out

    classes: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        classes[row["kind"]].append(row)
    table = make_table("attack on a view", "attacks", "got through", "lines", "most")
    for kind, some in [*classes.items(), ("all", rows)]:
        lines = [row["lines"] for row in some]
        through = sum(bool(row["why"]) for row in some)
        table.add_row(kind, *map(str, (len(some), through, sum(lines), max(lines))))
    out.print(table)
    through = [row for row in rows if row["why"]]
    for row in through:
        out.print(f"{row['number']} {row['kind']}: {row['why']}", highlight=False)
    return len(through)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=200)
    options = parser.parse_args()
    sys.exit(bool(report(attacks(options.count, options.seed))))

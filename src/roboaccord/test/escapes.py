"""Expressions of xacro that reach beyond themselves, and calls that a fence refuses.

python escapes.py FOLDER prints what succeeded, by how a file is expanded, and by whom. Anybody must
be able to reach the folder.
"""

from __future__ import annotations

import ctypes
import encodings.idna  # noqa: F401 - by which names of hosts are looked up
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from xml.sax.saxutils import quoteattr

from roboaccord.description import xacro_file
from roboaccord.numerics.fence import fence

NOBODY = 65534
ROOT = Path(__file__).resolve().parents[2]
POPEN = "[c for c in {}.__subclasses__() if c.__name__ == 'Popen'][0]"
OBJECT = "().__class__.__mro__[1]"
TOUCH = "(['touch', 'MARKER'])"
BUILTINS = "xacro.load_yaml.__globals__['__builtins__']"
FRAME = "l[0].gi_frame.f_back{}.f_builtins['open']('MARKER', 'w')"
ITSELF = f"(l.append(({FRAME} for _ in [1])), list(l[0]))"
LATER = "(['sh', '-c', 'sleep 1; touch MARKER'], start_new_session=True)"

EXPRESSIONS: Mapping[str, str] = {
    "lambda": f"(lambda: {POPEN.format(OBJECT)}{TOUCH})()",
    "comprehension": f"[{POPEN.format(OBJECT)}{TOUCH} for _ in [1]]",
    "generator": f"list({POPEN.format(OBJECT)}{TOUCH} for _ in [1])",
    **{
        f"frame of a generator, {n} up": f"[{ITSELF.format('.f_back' * n)} for l in [[]]]"
        for n in range(4)
    },
    "strings for names": "[c for c in python.vars(python.type)['__subclasses__']("
    "python.type.mro(python.type)[1]) if python.vars(c).get('__module__') == 'subprocess' "
    f"and 'poll' in python.vars(c)][0]{TOUCH}",
    "import": f"(lambda: {BUILTINS}['__import__']('os').system('touch MARKER'))()",
    "connection": f"(lambda: {BUILTINS}['__import__']('socket')"
    ".create_connection(('127.0.0.1', PORT)))()",
    "child that outlives": f"(lambda: {POPEN.format(OBJECT)}{LATER})()",
    "fork that outlives": f"(lambda: {BUILTINS}['__import__']('os').fork() or "
    f"({BUILTINS}['__import__']('time').sleep(1), {BUILTINS}['open']('MARKER', 'w')))()",
}
ATTACK = "${" + EXPRESSIONS["import"] + "}"
# Of $(eval ) the first bracket is the end, but for one that a property has.
CALL = "'open%c%cMARKER%c, %cw%c%c' % (40, 39, 39, 39, 39, 41)"
FILES = {
    "part.xacro": "LINK",
    "unit.yaml": f'a: !degrees "{EXPRESSIONS["import"]}"',
    "object.yaml": 'a: !!python/object/apply:os.system ["touch MARKER"]',
}
"""What robots load or include."""


def bodies() -> dict[str, str]:
    """Return what stands in a robot, by name."""
    macro = f"<xacro:macro name='m' params={quoteattr('p:=' + ATTACK)}>{link('${p}')}</xacro:macro>"
    return {
        **{name: link("${" + text + "}") for name, text in EXPRESSIONS.items()},
        "eval": f"<xacro:property name='c' value={quoteattr('${' + CALL + '}')}/>"
        + link("$(eval ${c})"),
        "find": f"<xacro:property name='c' value={quoteattr(ATTACK)}/>" + link("$(find ${c})"),
        "macro": f"{macro}<xacro:m/>",
        "property": f"<xacro:property name='p' value={quoteattr(ATTACK)}/>{link('${p}')}",
        "condition": f"<xacro:if value={quoteattr(ATTACK)}/>{link('b')}",
        "included": "<xacro:include filename='part.xacro'/><link name='b'/>",
        "unit": link("${xacro.load_yaml('unit.yaml')['a']}"),
        "object": link("${xacro.load_yaml('object.yaml')['a']}"),
    }


def link(name: str) -> str:
    """Return a link of a name."""
    return f"<link name={quoteattr(name)}/>"


def robot(body: str) -> str:
    """Return a robot in xacro."""
    return f'<robot xmlns:xacro="http://ros.org/xacro" name="r">{body}</robot>'


def alone(work: Callable[[], object], user: int) -> bool:
    """Do something in a process of its own, of another user; return whether it ended well."""
    child = os.fork()
    if not child:
        os.setsid()
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in (1, 2):
            os.dup2(nowhere, stream)
        with suppress(BaseException):
            if user != os.getuid():
                os.setgroups([])
                os.setgid(user)
                os.setuid(user)
            signal.alarm(60)
            work()
            os._exit(0)
        os._exit(1)
    return os.waitpid(child, 0)[1] == 0


def write(place: str) -> None:
    Path(place).write_text("x", encoding="utf-8")


def calls(folder: Path, port: int) -> dict[str, Callable[[], object]]:
    """Return what a process may try that runs any code: all of it is refused by a fence."""
    target = folder / "target"
    libc = ctypes.CDLL(None, use_errno=True)

    def system(number: int, *given: int) -> None:
        if libc.syscall(*map(ctypes.c_long, (number, *given))) < 0:
            raise OSError(ctypes.get_errno())

    def send(kind: socket.SocketKind) -> None:
        with socket.socket(socket.AF_INET, kind) as link:
            link.connect(("127.0.0.1", port))

    found: dict[str, Callable[[], object]] = {
        "write": lambda: write(str(target)),
        "append": lambda: os.open(target, os.O_WRONLY | os.O_APPEND),
        "make by reading": lambda: os.open(folder / "made", os.O_RDONLY | os.O_CREAT),
        "truncate by reading": lambda: os.open(target, os.O_RDONLY | os.O_TRUNC),
        "truncate": lambda: os.truncate(target, 0), "delete": lambda: target.unlink(),
        "rename": lambda: target.rename(folder / "renamed"),
        "link": lambda: (folder / "link").symlink_to(target),
        "hard link": lambda: (folder / "hard").hardlink_to(target),
        "folder": lambda: (folder / "new").mkdir(), "rights": lambda: target.chmod(0o777),
        "times": lambda: os.utime(target), "fifo": lambda: os.mkfifo(folder / "fifo"),
        "TCP": lambda: send(socket.SOCK_STREAM), "UDP": lambda: send(socket.SOCK_DGRAM),
        "local socket": lambda: socket.socketpair(), "fork": lambda: os.fork() or os._exit(0),
        "program": lambda: os.execv("/bin/true", ["true"]),
        "child": lambda: subprocess.run(["true"], check=True),
        "spawn": lambda: os.posix_spawn("/bin/true", ["true"], {}),
        "signal": lambda: os.kill(os.getppid(), 0),
        "limits of the parent": lambda: resource.prlimit(
            os.getppid(), resource.RLIMIT_CORE, (0, 0)
        ),
        "priority of the parent": lambda: os.setpriority(os.PRIO_PROCESS, os.getppid(), 5),
        "memory as a file": lambda: os.memfd_create("x"),
        "io_uring": lambda: system(425, 1, ctypes.addressof(ctypes.create_string_buffer(120))),
        "memory of the parent": lambda: os.open(f"/proc/{os.getppid()}/mem", os.O_RDONLY),
        "own memory as a file": lambda: os.open("/proc/self/mem", os.O_RDWR),
    }  # fmt: skip
    if sys.maxsize > 1 << 32 and os.uname().machine == "x86_64":
        found["write by the x32 numbers"] = lambda: system(0x40000000 + 83, _name(folder / "x32"))
        found["folder by an old number"] = lambda: system(83, _name(folder / "old"))
    return found


def _name(path: Path) -> int:
    _names.append(ctypes.create_string_buffer(bytes(path)))
    return ctypes.addressof(_names[-1])


_names: list[ctypes.Array[ctypes.c_char]] = []


def allowed() -> None:
    """Do what a process behind a fence still does."""
    if not fence():
        raise OSError("no fence")
    list(Path("/").iterdir())
    Path("/proc/self/status").read_text(encoding="utf-8")
    threads = [threading.Thread(target=time.sleep, args=[0.01]) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def escapes(top: Path, mode: str, user: int) -> list[str]:
    """Return the robots in xacro that reached beyond them."""
    markers, reached = dict[str, Path](), list[str]()
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        for number, (name, body) in enumerate(bodies().items()):
            folder = top / f"{mode}_{user}_{number}"
            folder.mkdir()
            folder.chmod(0o777)
            markers[name] = folder / "marker"
            for file, text in {"a.xacro": robot(body), **FILES}.items():
                text = text.replace("LINK", robot(link(ATTACK)))
                text = text.replace("MARKER", str(markers[name]))
                text = text.replace("PORT", str(server.getsockname()[1]))
                (folder / file).write_text(text, encoding="utf-8")
            alone(partial(expand, str(folder / "a.xacro"), mode), user)
            with suppress(BlockingIOError):
                server.accept()
                reached.append(name)
    time.sleep(1.5)  # for those that come later
    return reached + [name for name, marker in markers.items() if marker.exists()]


def expand(path: str, mode: str) -> str:
    """Expand a file as a stranger's, behind a fence or without one, or as a trusted one."""
    if mode == "no fence":
        xacro_file.fence = bool  # as where the kernel has none
    work = xacro_file.expand_trusted if mode == "trusted" else xacro_file.expand_fenced
    return work(path, {}, {})


def done(top: Path, user: int, *, fenced: bool) -> list[str]:
    """Return the calls that succeed, and "nothing" where nothing does any more."""
    folder = top / f"calls_{user}_{fenced}"
    folder.mkdir()
    folder.chmod(0o777)
    found = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        for name, call in calls(folder, server.getsockname()[1]).items():
            (folder / "target").write_text("x", encoding="utf-8")
            (folder / "target").chmod(0o666)

            def work(call: Callable[[], object] = call) -> None:
                if fenced and not fence():
                    return  # which counts as success
                call()

            if alone(work, user):
                found.append(name)
    return found + ([] if alone(allowed, user) else ["nothing"])


def differing(mode: str) -> list[str]:
    """Return the robots of packages that a mode expands otherwise."""
    found = []
    for path in ROOT.glob("*/urdf/*.urdf.xacro"):
        text = xacro_file.expand_xacro(path, {})

        def check(path: Path = path, text: str = text) -> None:
            if expand(str(path), mode) != text:
                raise ValueError(path)

        if not alone(check, os.getuid()):
            found.append(path.name)
    return found


def main() -> None:
    """Try all, as this user and as one without rights, and print what succeeded."""
    top = Path(sys.argv[1])
    found = {}
    (top / "a.yaml").write_text("{a: b, c: !degrees 1.0}", encoding="utf-8")
    (top / "a.xacro").write_text(robot(link("${xacro.load_yaml('a.yaml')['a']}")), encoding="utf-8")
    expand(str(top / "a.xacro"), "trusted")  # which imports what others may not be able to read
    for user in {os.getuid(), NOBODY} if os.getuid() == 0 else {os.getuid()}:
        for mode in ("trusted", "fenced", "no fence"):
            found[f"{mode}, user {user}"] = escapes(top, mode, user)
        found[f"calls behind a fence, user {user}"] = done(top, user, fenced=True)
    found["calls"] = done(top, os.getuid(), fenced=False)
    found["differing"] = [*differing("fenced"), *differing("no fence")]
    print(json.dumps(found))


if __name__ == "__main__":
    main()

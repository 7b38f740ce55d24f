"""SIGTERM ends a command as Ctrl-C does: one line, 143 or 130, a whole bag, and no process left."""

from __future__ import annotations

import errno
import os
import resource
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from roboaccord.bag.reader import read_run
from roboaccord.cli import main as command_line
from roboaccord.contract.errors import Terminated
from roboaccord.scenario.user_code import line_of

pytest.importorskip("monkeybot")
thorough = pytest.mark.thorough

LINES = {
    signal.SIGTERM: (143, "accord: terminated\n"),
    signal.SIGINT: (130, "accord: interrupted\n"),
}


REPLACED = """
import time
from roboaccord.cli import main, start
def work(*_, **__):
    exec({!r})
main.app = work
start.main()
"""  # `accord` with work of a test in place of its commands
PATIENCE = 60.0  # s of wall time; what would last longer is ended by the signal


def start(*words: str, work: str = "") -> subprocess.Popen[str]:
    """Start a command, or `work` in place of one, to which Ctrl-C can be given.

    A shell ignores that for what it runs in the background.
    """
    code = ["-c", REPLACED.format(work)] if work else ["-m", "roboaccord.cli.start"]
    return subprocess.Popen(
        [sys.executable, *code, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip


@contextmanager
def at_work(work):
    """Start a command in place of whose work a program is run, and wait for its first line."""
    with start(work=work) as process:
        assert process.stdout
        process.stdout.readline()
        yield process


def end(process: subprocess.Popen[str], number: signal.Signals) -> None:
    """Send a signal, and look at what is printed, and when."""
    process.send_signal(number)
    try:
        stdout, stderr = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    status, line = LINES[number]
    assert process.returncode == status
    assert stdout == ""
    said = [each for each in stderr.splitlines(keepends=True) if "compiling kernels" not in each]
    if said and said[0].startswith("messages in transit to bag: "):  # the machine is behind
        del said[0]
    assert "".join(said) == line


def children_of(pid: int) -> list[int]:
    """Return the processes that a process has started, and theirs."""
    with suppress(OSError):
        found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return [one for child in map(int, found) for one in (child, *children_of(child))]
    return []


def is_alive(pid: int) -> bool:
    with suppress(OSError):
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    return False


def gone(processes: list[int], patience: float = PATIENCE) -> bool:
    """Wait until processes have ended; return whether they have."""
    until = time.monotonic() + patience
    while any(map(is_alive, processes)) and time.monotonic() < until:
        time.sleep(0.02)
    return not any(map(is_alive, processes))


@pytest.mark.parametrize(
    ("transport", "number"),
    [
        ("direct", signal.SIGTERM),
        pytest.param("ros", signal.SIGTERM, marks=pytest.mark.slow),
        pytest.param("ros_processes", signal.SIGINT, marks=pytest.mark.slow),
    ],
)
def test_a_signal_ends_a_run_and_leaves_its_bag_whole(transport, number, tmp_path):
    if transport != "direct":
        pytest.importorskip("rclpy")
    bag = tmp_path / "out" / "bag"
    words = ["run", "monkeybot", "level", "--transport", transport, "--set", "duration=1000"]
    with start(*words, "--out", str(bag.parent)) as process:
        until = time.monotonic() + 60.0
        while not (bag.exists() and (bag / "bag.mcap").stat().st_size > 20_000):
            assert time.monotonic() < until
            time.sleep(0.02)
        end(process, number)
    run = read_run(bag)
    assert run.complete and run.sha256 is None
    assert len(run.trajectory) > 10


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "number"),
    [
        ("sweep monkeybot level --figure travel --seeds 200", signal.SIGTERM),
        ("crosscheck snake serpenoid --set duration=200", signal.SIGINT),
    ],
)
def test_a_signal_ends_a_study_with_its_processes(words, number, tmp_path):
    pytest.importorskip("snake")
    with start(*words.split(), "--out", str(tmp_path / "out")) as process:
        until = time.monotonic() + 60.0
        while len(children := children_of(process.pid)) < 4:  # with workers
            assert time.monotonic() < until
            time.sleep(0.1)
        end(process, number)
    assert gone(children)


@thorough
@pytest.mark.parametrize(
    "work",
    [
        "from roboaccord.run.pieces import run_pieces as run; run(time.sleep, [(600,)] * 2)",
        "from roboaccord.numerics.isolation import isolated as run;"
        "[*run(time.sleep, [(600,)] * 2, timeout=999)]",
    ],
)
@pytest.mark.parametrize("hit", [0, 1])
def test_workers_end_with_the_process_that_is_killed(work, hit):
    """That is the one that was started, or the one which works for it."""
    if "run_pieces" in work and len(os.sched_getaffinity(0)) < 2:
        pytest.skip("on one core pieces have no workers")
    with start(work=work) as process:
        until = time.monotonic() + 60.0
        while len(children := children_of(process.pid)) < 4:  # a tracker is among them
            assert time.monotonic() < until
            time.sleep(0.02)
        os.kill([process.pid, children[0]][hit], signal.SIGKILL)
        assert gone(children)
        process.kill()


@pytest.mark.slow
@thorough
@pytest.mark.parametrize("number", LINES)
def test_a_signal_ends_native_code_that_hangs(number):
    """It waits for itself and keeps the interpreter, so that no handler of Python runs."""
    work = (
        "import ctypes; lock = ctypes.PyDLL(None).pthread_mutex_lock\n"
        "mutex = ctypes.create_string_buffer(64); lock(mutex); print(flush=True); lock(mutex)"
    )
    with at_work(work) as process:
        time.sleep(0.5)
        end(process, number)


@thorough
def test_a_signal_that_a_callback_of_a_library_loses_is_given_again():
    work = (
        "import ctypes; kind = ctypes.CFUNCTYPE(None)\n"
        "kind(lambda: (print(flush=True), time.sleep(1.0)))()\n"
        "time.sleep(600)"
    )
    with at_work(work) as process:
        end(process, signal.SIGINT)


@thorough
def test_native_code_that_crashes_is_one_line():
    with start(work="import ctypes; ctypes.string_at(0)") as process:
        _, stderr = process.communicate(timeout=60)
    assert process.returncode == 2
    assert stderr == "accord: ended by SIGSEGV; is there enough memory, and room in /dev/shm?\n"


@pytest.mark.slow
@thorough
def test_ctrl_c_that_is_a_regular_end_leaves_time_for_the_rest():
    work = (
        "from roboaccord.cli.interrupts import until_interrupted as regular\n"
        "with regular(): print(flush=True); time.sleep(600)\n"
        "time.sleep(2.5); print('the result')"
    )
    with at_work(work) as process:
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=60) == ("the result\n", "")
    assert process.returncode == 0


def limited(limit: int, value: int, *words: str) -> tuple[int, str, str]:
    """Run a command with a limit, and return its exit status, stdout and stderr."""
    done = subprocess.run(
        [sys.executable, "-m", "roboaccord.cli.start", *words],
        capture_output=True, text=True, check=False, timeout=60,
        preexec_fn=lambda: resource.setrlimit(limit, (value, value)),
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


@thorough
@pytest.mark.parametrize("transport", ["direct", "ros"])
def test_too_little_address_space_is_one_line(transport, tmp_path):
    """At 450 and 650 MB OpenBLAS, as it is loaded, asks for memory without end."""
    if transport == "ros":
        pytest.importorskip("rclpy")
    value = {"direct": 450, "ros": 650}[transport] * 10**6
    words = ["run", "monkeybot", "level", "--transport", transport, "--out", str(tmp_path / "out")]
    status, _, message = limited(resource.RLIMIT_AS, value, *words)
    assert (status, message.count("\n")) == (2, 1)
    assert f"{value // 10**6} MB of address space" in message
    assert "ulimit -v" in message


@pytest.mark.parametrize("words", ["check {}", "recover {}", "run {} --transport direct"])
def test_files_that_run_out_are_told_as_such(words, tmp_path, capsys):
    file = tmp_path / "arm.urdf"
    file.write_text("<robot name='arm'><link name='base_link'/></robot>")
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    free = os.open(os.devnull, os.O_RDONLY)
    os.close(free)
    command_line.run(["check", str(file)])  # loads what it needs
    capsys.readouterr()
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (free, before[1]))
        status = command_line.run(words.format(file).split())
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert status == 2
    assert capsys.readouterr().err == (
        "accord: too many open files: raise the limit with ulimit -n\n"
    )


UNPRIVILEGED = "setpriv --reuid 65534 --regid 65534 --clear-groups".split()
READS_ALL = "+dac_override,+dac_read_search"  # what is installed may belong to somebody else


@thorough
@pytest.mark.parametrize("words", ["--version", *(pytest.param(w, marks=pytest.mark.slow) for w in (
    "sweep toy.yaml --seeds 4", "crosscheck arm.urdf"))])  # fmt: skip
@pytest.mark.parametrize("limit", [1, 2])
def test_a_full_process_table_is_one_line(words, limit, tmp_path):
    """The process that works cannot be started, or none of its threads."""
    user = [*UNPRIVILEGED, "--inh-caps", READS_ALL, "--ambient-caps", READS_ALL]
    if subprocess.run([*user, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no other user's limits can be tried here")
    tmp_path.chmod(0o777)
    (tmp_path / "arm.urdf").write_text("<robot name='arm'><link name='base_link'/></robot>")
    command = [sys.executable, "-m", "roboaccord.cli.start", *words.split()]
    done = subprocess.run(
        [*user, "bash", "-c", f'ulimit -u {limit}; exec "$@"', "bash", *command],
        capture_output=True, text=True, check=False, cwd=tmp_path, timeout=300,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "ulimit -u" in done.stderr


@pytest.mark.parametrize("number", [errno.EAGAIN, errno.ENOSPC])
def test_a_limit_of_the_system_behind_an_error_is_named(number):
    """Of a process, or of what processes share, which has no file; a file's error names it."""
    words = {errno.EAGAIN: "ulimit -u", errno.ENOSPC: "/dev/shm"}[number]
    own = OSError(number, os.strerror(number))
    wrapped = RuntimeError("a pool")
    wrapped.__cause__ = own
    assert all(words in command_line.exhausted_limit(error) for error in (own, wrapped))
    assert command_line.exhausted_limit(OSError(number, os.strerror(number), "a.bag")) == ""


@thorough
@pytest.mark.parametrize("size", ["4k", "1m"])
def test_ros_without_room_for_its_shared_memory_is_refused(size, tmp_path):
    pytest.importorskip("rclpy")
    if subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode:
        pytest.skip("unshare -m is not allowed here")
    mount = f'mount -t tmpfs -o size={size} tmpfs /dev/shm && exec "$@"'
    words = ["run", "monkeybot", "level", "--transport", "ros", "--out", str(tmp_path / "out")]
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", mount, "sh", sys.executable, "-m", "roboaccord.cli.start",
         *words],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "--transport direct" in done.stderr


def test_a_signal_is_no_error_of_the_controller_that_it_cuts():
    try:
        raise Terminated
    except Terminated as error:
        with pytest.raises(Terminated):
            line_of(error)


@pytest.fixture
def handlers():
    """Handlers of signals as they were, afterwards."""
    before = {number: signal.getsignal(number) for number in (*LINES, signal.SIGALRM)}
    yield
    command_line.RECEIVED.clear()
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("handlers")
def test_the_first_sigterm_ends_what_runs_and_the_second_disturbs_nothing():
    with command_line.signals_handled() as received, suppress(Terminated):
        os.kill(os.getpid(), signal.SIGTERM)
        pytest.fail("SIGTERM had no effect")
    os.kill(os.getpid(), signal.SIGTERM)
    assert received == [signal.SIGTERM]


@pytest.mark.usefixtures("handlers")
def test_a_signal_in_a_destructor_ends_the_command_all_the_same():
    """Python drops what is raised there."""

    class Ending:
        def __del__(self):
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(0.01)  # here the handler raises

    with command_line.signals_handled() as received, suppress(Terminated):
        Ending()
        time.sleep(PATIENCE)
        pytest.fail("SIGTERM had no effect")
    assert received == [signal.SIGTERM]


@pytest.mark.slow
def test_a_long_run_takes_no_more_memory_than_a_short_one(tmp_path):
    """10,000 ticks and 40,000: 4 kB a tick would be 120 MB."""

    def largest(duration: int) -> int:
        words = "run monkeybot level --transport direct".split()  # prints little: no pipe is read
        out = str(tmp_path / f"{duration}")
        with start(*words, "--set", f"duration={duration}", "--out", out) as process:
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0
        return used.ru_maxrss

    assert largest(40) < largest(10) + 20_000  # kB


def test_a_full_disk_is_one_line_and_what_was_recorded_is_there(tmp_path):
    """A limit on the size of files stands for the disk."""
    out = tmp_path / "out"
    words = ["run", "monkeybot", "level", "--transport", "direct", "--set", "duration=1000"]
    done = limited(resource.RLIMIT_FSIZE, 150_000, *words, "--out", str(out))
    line = f"cannot write {out}/bag: File too large; accord recover {out}/bag keeps what was"
    assert done == (2, "", f"accord: {line} recorded\n")
    run = read_run(out / "bag")
    assert not run.complete and len(run.trajectory) > 10

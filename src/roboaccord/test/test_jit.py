"""Kernels: compiled once, and anew when any code of theirs changes, but not by its words."""

from __future__ import annotations

import fcntl
import importlib
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from roboaccord.numerics.jit import HAS_NUMBA, OPTIONS, Kernel
from workspace import set_numba

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(not HAS_NUMBA, reason="numba is not installed"),
]

SOURCES = {
    "__init__": "",
    "outer": """
import math
from roboaccord.numerics.jit import kernel
from toy_package import limits
from toy_package.inner import inner

SHIFT = 1.0

@kernel
def outer(x):
    return inner(x) + SHIFT + limits.LIMITS[0] + math.sqrt(0.0)

def unrelated():
    return 1
""",
    "inner": """from roboaccord.numerics.jit import kernel

@kernel
def inner(x):
    return 3.0 * x
""",
    "limits": "import numpy as np\n\nLIMITS = np.array([0.0, 5.0])\n",
}
VALUE = 3.0 * 2.0 + 1.0
INTRINSIC = """from numba.extending import intrinsic
from roboaccord.numerics.jit import kernel

def emit(builder, x):
    return builder.CODE

@intrinsic
def doubled(_, x):
    return x(x), lambda context, builder, signature, arguments: emit(builder, *arguments)

@kernel
def inner(x):
    return doubled(x)
"""

RAISING = """from roboaccord.numerics.jit import kernel

@kernel
def inner(x):
    if x[0] < 0.0:
        raise ValueError("negative")
    return 2.0 * x
"""
PAIR = """from collections import namedtuple

make = {0} = namedtuple("{0}", "{1} {2}")
"""
TAKING = {
    "outer": """from roboaccord.numerics.jit import kernel
import toy_package.pair

@kernel
def outer(pair):
    return pair.first
"""
}
CALLING = """from roboaccord.numerics.jit import kernel
from toy_package.inner import inner

@kernel
def outer(x):
    return inner(x)
"""


def load(folder: Path, sources: dict[str, str]) -> Kernel:
    """Write a package, and import its outer kernel as a fresh process would."""
    package = folder / "toy_package"
    package.mkdir(exist_ok=True)
    for name, text in sources.items():
        (package / f"{name}.py").write_text(text)
        sys.modules.pop(f"toy_package.{name}", None)
    sys.modules.pop("toy_package", None)
    importlib.invalidate_caches()
    outer: Kernel = importlib.import_module("toy_package.outer").outer
    return outer


def compiled(outer: Kernel) -> bool:
    """Call the kernel's compiler, and tell whether it found nothing in the cache."""
    outer(2.0)
    stats: Any = outer.dispatcher.stats
    return sum(stats.cache_hits.values()) == 0


@pytest.fixture
def warm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder whose package has been compiled."""
    set_numba(monkeypatch, "CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # it distinguishes sources by the second
    monkeypatch.syspath_prepend(tmp_path)
    outer = load(tmp_path, SOURCES)
    assert compiled(outer)
    assert outer(2.0) == VALUE
    return tmp_path


@pytest.mark.parametrize(
    ("module", "old", "new"),
    [
        ("outer", "import math", "# A comment.\n\n\nimport math"),
        ("outer", "(x):\n", '(x):\n    """Have a docstring."""\n'),
        ("inner", "(x):\n", '(x):\n    """Have a docstring."""\n\n    # And a comment.\n'),
        ("outer", "return 1\n", "return 2\n"),
        ("limits", "LIMITS", "# A comment.\nOTHERS = 1.0\nLIMITS"),
    ],
)
def test_words_and_lines_and_other_code_compile_nothing(
    warm: Path, module: str, old: str, new: str
) -> None:
    changed = SOURCES[module].replace(old, new)
    assert changed != SOURCES[module]
    outer = load(warm, {**SOURCES, module: changed})
    assert not compiled(outer)
    assert outer(2.0) == VALUE


@pytest.mark.parametrize(
    ("module", "old", "new", "value"),
    [
        ("outer", "+ SHIFT", "- SHIFT", 3.0 * 2.0 - 1.0),
        ("outer", "SHIFT = 1.0", "SHIFT = 4.0", 3.0 * 2.0 + 4.0),
        ("outer", "math.sqrt", "math.cos", VALUE + 1.0),
        ("inner", "3.0 * x", "50.0 * x", 50.0 * 2.0 + 1.0),
        ("inner", "3.0 * x", "x * 3.0 * x", 3.0 * 4.0 + 1.0),
        ("limits", "0.0, 5.0", "7.0, 5.0", VALUE + 7.0),
    ],
)
def test_a_kernel_follows_its_code_and_what_it_calls_and_reads(
    warm: Path, module: str, old: str, new: str, value: float
) -> None:
    """Numba's own cache would answer with the old one: it looks at the caller's file alone."""
    outer = load(warm, {**SOURCES, module: SOURCES[module].replace(old, new)})
    assert compiled(outer)
    assert outer(2.0) == value


@pytest.mark.parametrize("changed", ["Pair:second first", "Couple:first second"])
def test_a_kernel_follows_the_fields_and_the_name_of_a_tuple_that_it_takes(
    warm: Path, changed: str
) -> None:
    """Numba tells named tuples by their class: fields that changed places would be mixed up."""
    for text in ("Pair:first second", changed):
        name, _, fields = text.partition(":")
        outer = load(warm, {"__init__": "", "pair": PAIR.format(name, *fields.split()), **TAKING})
        pair = sys.modules["toy_package.pair"].make(first=2.0, second=3.0)
        assert outer(pair) == 2.0
        assert not outer.dispatcher.stats.cache_hits


def test_a_kernel_follows_what_its_intrinsics_call(warm: Path) -> None:
    for code, value in ("fadd(x, x)", 4.0), ("fsub(x, x)", 0.0):
        outer = load(warm, {**SOURCES, "inner": INTRINSIC.replace("CODE", code)})
        assert compiled(outer)
        assert outer(2.0) == value + 1.0


def test_the_code_before_is_removed_an_hour_later(warm: Path) -> None:
    files = set((warm / "cache").rglob("outer.outer-*"))
    assert len(files) == 4  # index and code, of what Python calls and of what kernels call
    changed = {**SOURCES, "outer": SOURCES["outer"].replace("+ SHIFT", "- SHIFT")}
    assert compiled(load(warm, changed))
    assert len(list((warm / "cache").rglob("outer.outer-*"))) == 8  # a run may need the others
    for file in files:
        os.utime(file, (0, 0))
    changed["outer"] = SOURCES["outer"].replace("+ SHIFT", "* SHIFT")
    assert compiled(load(warm, changed))
    assert not any(file.exists() for file in files)


def test_what_kernels_call_is_emitted_with_them_and_compiled_once(warm: Path) -> None:
    """A chain of calls costs the optimiser each kernel once, and not once for each caller."""
    outer = load(warm, {**SOURCES, "inner": SOURCES["inner"].replace("3.0", "5.0")})
    assert compiled(outer)
    inner: Any = sys.modules["toy_package.inner"].inner
    (body,) = inner.dispatcher.body.overloads.values()
    assert not body.library._emitted
    assert not inner.dispatcher.overloads
    assert inner(2.0) == 5.0 * 2.0
    assert [*inner.dispatcher.body.overloads.values()] == [body]


def test_arrays_and_errors_are_the_same_from_the_cache(warm: Path) -> None:
    """Who calls is loaded first, with a part of what the kernel needs that is called later."""
    load(warm, {**SOURCES, "inner": RAISING, "outer": CALLING})
    code = (
        "import numpy as np\nfrom toy_package.outer import inner, outer\n"
        "for call in outer, inner:\n"
        "    assert (call(np.ones(2)) == 2.0).all()\n"
        "    try:\n        call(-np.ones(2))\n"
        "    except ValueError as error:\n        print(error)\n"
    )
    environment = {
        **os.environ,
        "NUMBA_CACHE_DIR": str(warm / "cache"),
        "PYTHONPATH": os.pathsep.join([str(warm), *sys.path]),
    }
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True,
            check=True,
        )  # fmt: skip
        assert done.stdout == "negative\nnegative\n"


def test_another_process_finds_what_was_compiled(warm: Path) -> None:
    code = (
        "import sys; from toy_package.outer import outer; assert 'numba' not in sys.modules; "
        "outer(2.0); print(sum(outer.dispatcher.stats.cache_hits.values()))"
    )
    environment = {
        **os.environ,
        "NUMBA_CACHE_DIR": str(warm / "cache"),
        "PYTHONPATH": f"{warm}:{os.environ.get('PYTHONPATH', '')}",
    }
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "1\n"


def test_a_c_function_may_be_the_first_that_a_process_loads(tmp_path: Path) -> None:
    """It is kept by our libraries, which numba's own cannot read; engines call such functions."""
    (tmp_path / "called.py").write_text("def nothing(one, two):\n    pass\n")
    code = "import called; from roboaccord.numerics.native import c_function as c"
    code += "; print(c(called.nothing, 2).address != 0)"
    folders = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": folders}
    for _ in range(2):  # compiles, and then loads
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True,
                              text=True, check=False)  # fmt: skip
        assert done.stdout == "True\n", done.stderr


def test_who_waited_for_the_code_of_another_process_holds_nobody_up(
    warm: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other one saves its code, and unlocks, while this one sleeps for the first time."""
    files = {file: file.read_bytes() for file in (warm / "cache").rglob("outer.outer-*")}
    for file in files:
        file.unlink()
    (index,) = (file for file in files if file.suffix == ".nbi" and ".body" not in file.name)
    others, third = (
        os.open(index.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o600) for _ in range(2)
    )
    fcntl.flock(others, fcntl.LOCK_EX)

    def save(_: float) -> None:
        for file, content in files.items():
            file.write_bytes(content)
        index.with_suffix(".lock").unlink()
        os.close(others)

    monkeypatch.setattr("time.sleep", save)
    assert not compiled(load(warm, SOURCES))
    fcntl.flock(third, fcntl.LOCK_EX | fcntl.LOCK_NB)  # who waits beside it goes on
    os.close(third)


def test_code_of_other_options_is_kept_beside_the_first(
    warm: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a run in which an index past an array is an error would take code without the check."""
    with monkeypatch.context() as other:
        set_numba(other, "BOUNDSCHECK", 1)
        assert compiled(load(warm, SOURCES)) and not compiled(load(warm, SOURCES))
    assert not compiled(load(warm, SOURCES))
    monkeypatch.setitem(OPTIONS, "error_model", "python")
    assert compiled(load(warm, SOURCES))


@pytest.fixture
def homeless(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of temporary files, where neither a package nor a home can be written.

    A file stands in the place of each folder, which stops root too.
    """
    (tmp_path / "toy_package").mkdir()
    for name in ("file", "toy_package/__pycache__"):
        (tmp_path / name).touch()
    monkeypatch.setattr("numba.config.CACHE_DIR", "")
    monkeypatch.setenv("HOME", str(tmp_path / "file"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def test_without_a_home_kernels_are_kept_in_a_temporary_folder_of_the_user(homeless: Path) -> None:
    outer = load(homeless, SOURCES)
    assert compiled(outer)
    assert outer(2.0) == VALUE
    folder = homeless / f"roboaccord-{os.getuid()}"
    assert folder.stat().st_mode & 0o777 == 0o700
    assert not compiled(load(homeless, SOURCES))


def test_without_any_folder_kernels_are_compiled_and_a_line_says_so_once(
    homeless: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The folder is there already, and anybody may have written it."""
    folder = homeless / f"roboaccord-{os.getuid()}"
    folder.mkdir()
    folder.chmod(0o777)
    assert load(homeless, SOURCES)(2.0) == VALUE
    assert [line.getMessage() for line in caplog.records] == [
        "no folder to keep compiled kernels in can be written: set NUMBA_CACHE_DIR"
    ]
    assert not list(folder.iterdir())


def test_a_value_whose_change_would_go_unseen_is_refused(warm: Path) -> None:
    limits = "class Limits:\n    first = 0.0\n\nLIMITS = [Limits]\n"
    outer = load(warm, {**SOURCES, "limits": limits})
    with pytest.raises(TypeError, match=r"outer reads limits\.LIMITS: .* change of a list"):
        outer(2.0)


@pytest.mark.slow
def test_of_processes_that_start_together_one_compiles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each waits for the word, with numba imported; what the first compiles the others load."""
    monkeypatch.syspath_prepend(tmp_path)
    load(tmp_path, SOURCES)
    code = (
        "import numba; from toy_package.inner import inner; from toy_package.outer import outer; "
        "print('ready', flush=True); input(); outer(2.0); "
        "print(*(sum(k.dispatcher.body.stats.cache_misses.values()) for k in (outer, inner)))"
    )
    environment = {
        **os.environ,
        "NUMBA_CACHE_DIR": str(tmp_path / "cache"),
        "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path]),
    }
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True, env=environment,
        )
        for _ in range(3)
    ]  # fmt: skip
    for process in processes:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    message = [process.communicate()[0].split() for process in processes]
    assert [sum(map(int, misses)) for misses in zip(*message, strict=True)] == [1, 1]
    assert not list((tmp_path / "cache").rglob("*.lock"))


def test_the_lock_of_a_kernel_is_no_link(tmp_path: Path) -> None:
    """In a cache folder that others can write, too: then each process compiles for itself."""
    from roboaccord.numerics.jit_cache import KernelCache

    cache = KernelCache.__new__(KernelCache)
    cache._cache_path, cache._impl = str(tmp_path), SimpleNamespace(filename_base="kernel")
    assert cache._acquire() and (tmp_path / "kernel.lock").is_file()
    cache._release()
    (tmp_path / "kernel.lock").symlink_to(tmp_path / "new")
    assert not cache._acquire()
    assert not (tmp_path / "new").exists()


def test_a_new_process_that_finds_a_body_alone_compiles_its_entry(tmp_path: Path) -> None:
    """Loading the body sets up nothing of the compiler, which the entry needs for tuples."""
    package = tmp_path / "toy_package"
    package.mkdir()
    calling = CALLING.replace("inner(x)", "inner(x[1])")
    for name, text in {"__init__": "", "inner": RAISING, "outer": calling}.items():
        (package / f"{name}.py").write_text(text)
    line = "import numpy; from toy_package.outer import outer; print(outer((3, numpy.ones(2))))"
    given = {**os.environ, "PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", line], env=given, capture_output=True)
        assert done.stdout == b"[2. 2.]\n", done.stderr
        entries = [f for f in (tmp_path / "cache").rglob("outer*.nb*") if ".body" not in f.name]
        assert entries
        for entry in entries:
            entry.unlink()

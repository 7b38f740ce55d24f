"""`.ci/install.py`: what it shows while pip works and at the end, and copies that become links."""

from __future__ import annotations

import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest
from workspace import ROOT, call, clean_environment

pip = pytest.importorskip("pip")
# Lines after .05 s, where `make demo` has them after 10.
CODE = "import sys, install; install.PERIOD = 0.05; install.main(*sys.argv[1:])"
METADATA = "Metadata-Version: 2.1\nName: tiny\nVersion: 1\n"
WHEEL = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an environment of its own, as copies are linked in all of it."""
    folder = tmp_path_factory.mktemp("install") / "env"
    venv.create(folder, symlinks=True)
    return folder


def install(environment: Path, *options: str | Path) -> subprocess.CompletedProcess[str]:
    """Install by this interpreter's pip, without the network."""
    path = f"{ROOT / '.ci'}:{Path(pip.__file__).parents[1]}"
    command = [environment / "bin/python", "-c", CODE, "a title", "--no-index", *options]
    return call(command, environment.parent, clean_environment(PYTHONPATH=path))


def test_lines_while_it_works_and_the_size_at_the_end(environment: Path, tmp_path: Path) -> None:
    """A wheel brings a library under two names, which take the room of one."""
    wheel = tmp_path / "tiny-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in (("METADATA", METADATA), ("WHEEL", WHEEL), ("RECORD", "")):
            archive.writestr(f"tiny-1.dist-info/{name}", text)
        for name, text in (("libtiny.so", "x"), ("libtiny.so.1", "x"), ("other.so", "y")):
            archive.writestr(f"tiny/{name}", 50_000 * text)
    done = install(environment, wheel)
    title, *lines, last = done.stdout.splitlines()
    assert (done.returncode, done.stderr, title) == (0, "", "a title")
    assert lines, "no line while pip works"
    assert all(" s  " in line and " of " in line for line in lines)
    assert " s  done; env has " in last
    assert last.endswith(" MB")
    library = next(environment.glob("lib/python3*/site-packages/tiny/libtiny.so"))
    assert library.samefile(library.with_name("libtiny.so.1"))
    assert not library.samefile(library.with_name("other.so"))


def test_a_failure_of_pip_is_shown_with_its_status(environment: Path) -> None:
    done = install(environment, "no-such-package")
    assert done.returncode == 1
    assert done.stdout.endswith(" s  failed\n")
    assert "ERROR: No matching distribution found for no-such-package" in done.stderr


@pytest.mark.parametrize(
    ("output", "line"),
    [
        ("", "0 of 3  pip starts"),
        ("Looking in indexes: a\nIgnoring b: markers\n", "0 of 2  pip starts"),
        ("Collecting b==1 (from -r c)\n  Downloading b.whl (2 MB)\n", "1 of 3  Downloading b.whl"),
        ("Collecting b\nInstalling collected packages: b, c\n", "7 of 2  unpacked"),
    ],
)
def test_how_far_it_is(output: str, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Packages are counted as they begin; a marker that does not match takes one away."""
    monkeypatch.syspath_prepend(str(ROOT / ".ci"))
    from install import progress

    assert progress(output, asked=3, unpacked=7) == line
    sys.modules.pop("install")

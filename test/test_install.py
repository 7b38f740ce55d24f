"""`.ci/install.py`: what it shows while pip works and at the end, and copies that become links."""

from __future__ import annotations

import venv
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
from workspace import ROOT, call, clean_environment

# Lines after .05 s, where `make demo` has them after 10.
CODE = "import sys, install; install.PERIOD = 0.05; install.main(*sys.argv[1:])"
METADATA = "Metadata-Version: 2.1\nName: tiny\nVersion: 1\n"
FILES = {
    "tiny-1.dist-info/METADATA": METADATA,
    "tiny-1.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    "tiny-1.dist-info/RECORD": "",
    **{f"tiny/{name}": 50_000 * name[0] for name in ("libtiny.so", "libtiny.so.1", "other.so")},
}


def test_a_wheel_is_installed_and_a_package_that_is_nowhere_is_not(tmp_path: Path) -> None:
    """Without the network: lines while pip works, the size at the end; a library of two names."""
    wheel, folder = tmp_path / "tiny-1-py3-none-any.whl", tmp_path / "env"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in FILES.items():
            archive.writestr(name, text)
    venv.create(folder, symlinks=True)  # of its own, as copies are linked in all of it
    # Not imported, as setuptools has no distutils after that.
    path = f"{ROOT / '.ci'}:{metadata.distribution('pip').locate_file('')}"
    done, failed = (
        call(
            [folder / "bin/python", "-c", CODE, "a title", "--no-index", what],
            tmp_path, clean_environment(PYTHONPATH=path),
        )
        for what in (wheel, "no-such-package")
    )  # fmt: skip
    title, *lines, last = done.stdout.splitlines()
    assert (done.returncode, done.stderr, title) == (0, "", "a title")
    assert lines[0].startswith("  0 s  0 of 0  ")
    assert " s  done; env has " in last
    library = next(folder.glob("lib/python3*/site-packages/tiny/libtiny.so"))
    assert library.samefile(library.with_name("libtiny.so.1"))
    assert not library.samefile(library.with_name("other.so"))
    assert failed.returncode == 1
    assert failed.stdout.endswith(" s  failed\n")
    assert "ERROR: No matching distribution found for no-such-package" in failed.stderr


def test_packages_are_counted_as_they_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    """A marker that does not match takes one away; when all have begun, those on disk count."""
    monkeypatch.syspath_prepend(str(ROOT / ".ci"))
    from install import progress

    begun = "Looking in indexes: a\nIgnoring b: markers\nCollecting c==1 (from -r d)\n"
    assert progress(begun, asked=3, unpacked=0) == "1 of 2  Collecting c==1"
    assert progress(f"{begun}Installing collected packages: c, e\n", 3, 1) == "1 of 2  unpacked"

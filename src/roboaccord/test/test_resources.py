"""Data of a package are those beside its modules, whatever installed them."""

from __future__ import annotations

import os
import resource
import sys
import threading
import time
from pathlib import Path
from zipfile import ZipFile

import pytest
from roboaccord.contract.errors import AccordError
from roboaccord.description.resources import modules_of, share
from roboaccord.numerics.machine import memory_limit, private_folder

IN_VAIN = 0.2  # s: nobody can end it earlier, for the other thread waits for the limit

NAME = "toy_installed"
SITE = "lib/python3/site-packages"
# By kind of installation: the folder on the path, and that of the data.
KINDS = {
    "pip --user, --prefix, colcon": (SITE, f"share/{NAME}"),
    "pip --target": (".", f"share/{NAME}"),
    "a wheel unpacked": (".", f"toy-0.1.data/data/share/{NAME}"),
    "a source tree": (".", "."),
}


def write(top: Path, modules: str, data: str) -> None:
    for folder, file in ((f"{modules}/{NAME}", "__init__.py"), (data, "package.xml")):
        (top / folder).mkdir(parents=True, exist_ok=True)
        (top / folder / file).touch()


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for temporary files, and another installation that comes later."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    write(tmp_path / "older", SITE, f"share/{NAME}")
    monkeypatch.syspath_prepend(tmp_path / "older" / SITE)
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path / "older"))
    return folder


@pytest.mark.parametrize("kind", KINDS)
def test_data_are_found_beside_the_modules(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where AMENT_PREFIX_PATH has the data of an older one."""
    modules, data = KINDS[kind]
    top = tmp_path / "newer"
    write(top, modules, data)
    monkeypatch.syspath_prepend(top / modules)
    assert share(NAME) == top / data and modules_of(NAME) == top / modules / NAME


def test_a_wheel_on_the_path_is_unpacked_once_and_whole(
    temporary: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is missing, as where old temporary files are removed, is unpacked again."""
    modules, data = KINDS["a wheel unpacked"]
    write(tmp_path / "made", modules, data)
    wheel = tmp_path / "toy-0.1-py3-none-any.whl"
    with ZipFile(wheel, "w") as file:
        for path in (path for path in (tmp_path / "made").rglob("*") if path.is_file()):
            file.write(path, path.relative_to(tmp_path / "made"))
    monkeypatch.syspath_prepend(wheel)
    found = share(NAME)
    assert found.is_relative_to(temporary)
    (found / "package.xml").unlink()
    assert share(NAME) == found and (found / "package.xml").is_file()
    assert len(list(private_folder().iterdir())) == 1


def test_a_temporary_folder_that_others_can_write_is_not_used(
    temporary: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For code comes from it; the line states what to do instead."""
    wheel = tmp_path / "toy.whl"
    with ZipFile(wheel, "w") as file:
        file.writestr(f"{NAME}/__init__.py", "")
    monkeypatch.syspath_prepend(wheel)
    own = temporary / f"roboaccord-{os.getuid()}"
    for others in (0o777, 0o720):
        own.mkdir()
        own.chmod(others)
        with pytest.raises(AccordError, match=r"cannot unpack .*toy.whl: .* install it with pip"):
            share(NAME)
        own.rmdir()
    own.symlink_to(tmp_path)
    with pytest.raises(AccordError, match="not this user's alone"):
        share(NAME)


def test_memory_that_threads_may_spend_is_what_it_was_when_they_are_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The limit is of the process: who begins first may end first. Elsewhere there is none."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    begun, over = threading.Event(), threading.Event()

    def spend() -> None:
        begun.set()
        with memory_limit(4 << 30):
            over.wait(IN_VAIN)

    other = threading.Thread(target=spend)
    with memory_limit(4 << 30):
        assert resource.getrlimit(resource.RLIMIT_AS) != before
        other.start()
        begun.wait()
        time.sleep(0.05)
    over.set()
    other.join()
    assert resource.getrlimit(resource.RLIMIT_AS) == before
    monkeypatch.setattr(sys, "platform", "darwin")
    with memory_limit(4 << 30):
        assert resource.getrlimit(resource.RLIMIT_AS) == before

"""Which release of Gazebo is loaded, what is said of a missing one, and its components' numbers."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest
from roboaccord.contract.errors import AccordError
from roboaccord_ros.gazebo import transport
from roboaccord_ros.gazebo.pauses import component_type
from roboaccord_ros.gazebo.transport import RELEASES, gazebo_module, installed_release

JETTY, HARMONIC = RELEASES
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder from which alone modules of Gazebo are imported."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "gz"]:
        monkeypatch.delitem(sys.modules, name)
    # Recorded so that monkeypatch removes what tests import.
    names = [name for release in RELEASES for name in release.modules.values()]
    for name in ("gz", *names, *(f"{name}.empty_pb2" for name in names)):
        monkeypatch.setitem(sys.modules, name, sys)
        del sys.modules[name]
    others = [path for path in sys.path if not Path(path, "gz").is_dir()]
    monkeypatch.setattr(sys, "path", [str(tmp_path), *others])
    importlib.invalidate_caches()
    return tmp_path


def write(folder: Path, release: transport.Release, *roles: str) -> None:
    """Write the modules of a release: a file each, and a package for messages, as Gazebo has."""
    for role in roles:
        place = folder / release.modules[role].replace(".", "/")
        file = place / "__init__.py" if role == "msgs" else place.with_suffix(".py")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"RELEASE = {release.gazebo!r}\n", encoding="utf-8")
    importlib.invalidate_caches()


@pytest.mark.parametrize(
    ("jetty", "harmonic", "loaded"),
    [
        (JETTY.modules, HARMONIC.modules, JETTY),
        (JETTY.modules, (), JETTY),
        ((), HARMONIC.modules, HARMONIC),
        (("sim", "math", "msgs"), HARMONIC.modules, HARMONIC),
    ],
)
def test_the_newest_release_that_is_there_as_a_whole_is_loaded(folder, jetty, harmonic, loaded):
    """No module is taken of another release, whose libraries do not go with it."""
    write(folder, JETTY, *jetty)
    write(folder, HARMONIC, *harmonic)
    assert installed_release() is loaded
    assert {gazebo_module(role).RELEASE for role in loaded.modules} == {loaded.gazebo}


def test_a_folder_without_a_file_is_no_module(folder):
    """Gazebo's headers and shared files lie in folders gz/sim, which Python takes for packages."""
    write(folder, HARMONIC, *HARMONIC.modules)
    for name in JETTY.modules:
        (folder / "gz" / name / "detail").mkdir(parents=True)
    importlib.invalidate_caches()
    assert importlib.util.find_spec("gz.sim") is not None
    assert installed_release() is HARMONIC


@pytest.mark.parametrize("roles", [(), ("sim",), ("sim", "math", "msgs")])
def test_what_is_missing_is_called_by_its_package_in_both_releases(folder, roles):
    write(folder, HARMONIC, *roles)
    lacking = next(role for role in HARMONIC.modules if role not in roles)
    packages = f"{JETTY.packages[lacking]} or {HARMONIC.packages[lacking]}"
    with pytest.raises(AccordError, match=packages) as caught:
        gazebo_module("sim")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import google.protobufs", "python3-protobuf"),
        ("raise TypeError('Descriptors cannot be created.\\nIf')", "loaded: Descriptors cannot be"),
    ],
)
def test_messages_without_protobuf_or_with_another_say_so(folder, text, message):
    write(folder, JETTY, *JETTY.modules)
    (folder / "gz/msgs/empty_pb2.py").write_text(text, encoding="utf-8")
    with pytest.raises(AccordError, match=message) as caught:
        gazebo_module("msgs", ".empty_pb2")
    assert "\n" not in str(caught.value)


def test_the_page_has_what_differs_between_the_releases():
    page = (ROOT / "docs" / "ros.md").read_text(encoding="utf-8")
    section = page.partition("## Versions of ROS and Gazebo")[2].partition("\n## ")[0]
    for release in RELEASES:
        for word in (release.gazebo, release.ros.title(), f"Ubuntu {release.ubuntu}", release.end):
            assert word in section
        for word in (f"Python {release.python}", release.dart, *release.modules.values()):
            assert word in section


def test_the_number_of_a_component_is_fnv_1a():
    """Of 64 bits; the offset basis is that of the empty text."""
    by_hand = 0xCBF29CE484222325
    for letter in "gz_sim_components.Name":
        by_hand = (by_hand ^ ord(letter)) * 1099511628211 % (1 << 64)
    assert component_type("Name") == by_hand

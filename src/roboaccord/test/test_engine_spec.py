"""Engines by entry point: installed, missing, and broken ones."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from importlib.metadata import EntryPoint
from pathlib import Path

import numpy as np
import pytest
from roboaccord import engines
from roboaccord.contract.errors import AccordError
from roboaccord.engines import installed as listing
from roboaccord.engines import simulate_model
from roboaccord.engines.spec import Available, EngineSpec, Missing, read_settings
from roboaccord.run.versions import libraries
from roboaccord.testing.small_robots import model_of

LIBRARIES = ("dartpy", "mujoco", "pydrake", "numpy")
PAGE = Path(__file__).parents[3] / "docs/new_engine.md"
BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)
SOUND = EngineSpec(name="sound", package="sound-engine", version=lambda: "1.0")


def missing() -> str:
    raise ImportError("No module named 'sound'")


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[EntryPoint]]:
    """Let a test set what is installed."""
    found = list[EntryPoint]()
    monkeypatch.setattr(listing, "entry_points", lambda group: found)
    engines.specs.cache_clear()
    yield found
    engines.specs.cache_clear()


def test_names_of_engines_load_no_library() -> None:
    """Completion and help need them, in a process that starts in a fifth of a second."""
    script = (
        "import sys; from roboaccord import engines; names = engines.simulator_names();"
        f"print(*names, *({{*sys.modules}} & {{*{LIBRARIES}}}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == list(engines.simulator_names())


def test_those_of_the_core_take_part_by_default() -> None:
    assert engines.default_names() == ("dart", "mujoco")
    assert engines.simulator_names()[:3] == ("reference", "dart", "mujoco")
    assert "sdformat" in engines.specs() and "sdformat" not in engines.engine_names()


def test_an_engine_is_here_or_missing() -> None:
    """With its version, or the line that states what to install."""
    assert SOUND.look() == Available("1.0")
    assert replace(SOUND, version=missing).look() == Missing(
        "engine sound needs sound-engine: pip install sound-engine"
    )


@pytest.mark.parametrize(
    ("library", "package"),
    [
        ("libGL.so.1", "libgl1"), ("libgomp.so.1", "libgomp1"), ("libX11.so.6", "libx11-6"),
        ("libglib-2.0.so.0", "libglib2.0-0"),
    ],
)  # fmt: skip
def test_a_shared_library_is_missing_in_a_package_of_debian(library: str, package: str) -> None:
    """The packages are those of Debian 12 that have the file (packages.debian.org)."""

    def without() -> str:
        raise ImportError(f"{library}: cannot open shared object file: No such file or directory")

    assert replace(SOUND, version=without).look() == Missing(
        f"engine sound needs {library}: apt-get install {package}"
    )


def test_a_broken_package_hides_no_other(installed: list[EntryPoint]) -> None:
    """It is listed, and refused in one line where it is used."""
    installed += [EntryPoint("lost", "no_such_package:SPEC", listing.GROUP)]
    installed += [EntryPoint("other", "roboaccord.engines.dart:SPEC", listing.GROUP)]
    installed += [EntryPoint("dart", "roboaccord.engines.dart:SPEC", listing.GROUP)]
    assert engines.engine_names() == ("dart", "lost", "other")
    reasons = {
        "lost": "engine lost cannot be loaded: ModuleNotFoundError: No module named "
        "'no_such_package'",
        "other": "entry point roboaccord.engines:other gives no EngineSpec of that name",
    }
    for name, reason in reasons.items():
        assert engines.spec(name).look() == Missing(reason)
        with pytest.raises(AccordError) as refused:
            simulate_model(model_of("pendulums"), name)
        assert str(refused.value) == reason
    assert all(libraries.__wrapped__())  # whose versions results depend on


def test_an_unknown_engine_is_refused_with_a_hint() -> None:
    with pytest.raises(AccordError, match=r"^unknown engine mujco; did you mean mujoco\?$"):
        engines.spec("mujco")
    with pytest.raises(AccordError, match=r"^unknown engine sdformat"):
        engines.check_engine("sdformat")
    engines.check_engine("reference")


def test_a_preset_goes_to_engines_that_know_it_and_gives_way_to_the_scenario() -> None:
    found = engines.preset({"mujoco": {"contact_time": 0.1}}, contact_time=0.5, z_axis=[1, 0, 0])
    assert found["mujoco"] == {"contact_time": 0.1}
    assert found["dart"] == {"z_axis": [1, 0, 0]}
    assert "contact_time" not in found["dart"]


def test_the_specification_of_the_page(tmp_path: Path) -> None:
    """docs/new_engine.md has one that is whole, of a library that is not here."""
    (text,) = (block for block in BLOCK.findall(PAGE.read_text("utf-8")) if "EngineSpec(" in block)
    (tmp_path / "bullet.py").write_text(text, encoding="utf-8")
    engine: EngineSpec = runpy.run_path(str(tmp_path / "bullet.py"))["SPEC"]
    assert engine.look() == Missing("engine bullet needs pybullet: pip install pybullet")
    with pytest.raises(AccordError, match=r"^engine_options\.bullet\.iterations must be 1 at"):
        read_settings({"bullet": {"iterations": 0}}, "bullet", engine.settings)
    with pytest.raises(AccordError, match=r"^bullet: no reflected inertia"):
        engine.check(replace(model_of("pendulums"), armature=np.ones(2)))
    assert engine.check(replace(model_of("pendulums"), armature=np.zeros(2))) is None

"""The films of docs/images have commands, which pages show; `make films` leaves what is new."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from benchmarks.campaigns import films
from workspace import ROOT

IMAGES = ROOT / "docs/images"
COMMANDS = yaml.safe_load((IMAGES / "films.yaml").read_text(encoding="utf-8"))


def test_each_film_has_its_commands() -> None:
    assert sorted(COMMANDS) == sorted(path.stem for path in IMAGES.glob("*.gif"))
    assert all(f" --gif {name}.gif" in text for name, text in COMMANDS.items())
    assert all(path.stat().st_size < 1e6 for path in IMAGES.glob("*.gif"))


@pytest.mark.parametrize("name", COMMANDS)
def test_a_page_with_the_film_shows_them(name: str) -> None:
    """Word by word, or with GAIT in place of the scenario and its duration in brackets."""
    pages = [page.read_text(encoding="utf-8") for page in ROOT.glob("docs/*.md")]
    pages = [" ".join(page.split()) for page in pages if f"images/{name}.gif)" in page]
    gait = COMMANDS[name].replace(name.removeprefix("monkeybot_"), "GAIT")
    gait = re.sub(r"duration=3\.4\d+", "duration=3.5", gait)
    shown = [all(line in page for line in text.splitlines())
             for page in pages for text in (COMMANDS[name], gait)]  # fmt: skip
    assert any(shown)


def test_what_is_new_is_left_and_what_needs_gazebo_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = {"new": "echo 1 > new.gif", "old": "echo 22 > old.gif", "far": "run --engine gz"}
    (tmp_path / "films.yaml").write_text(yaml.safe_dump(texts))
    monkeypatch.setattr(films, "IMAGES", tmp_path)
    monkeypatch.setattr(films, "OUT", tmp_path / "out")
    monkeypatch.setattr(films, "has_gazebo", lambda: False)
    (tmp_path / "out/new").mkdir(parents=True)
    (tmp_path / "out/new/new.gif").write_text("0")
    films.main([])
    assert capsys.readouterr().out.splitlines() == [
        "far: left as it was, for Gazebo is not installed",
        "new: newer than the renderer",
        "old: 0 kB",
    ]
    assert (tmp_path / "old.gif").read_text() == "22\n" and not (tmp_path / "new.gif").exists()
    films.main(["--force", "new"])
    assert (tmp_path / "new.gif").read_text() == "1\n"

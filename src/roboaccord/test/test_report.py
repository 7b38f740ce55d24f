"""The report holds every section, stands alone, and judges as the tolerances say."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
from roboaccord.contract.trajectory import Trajectory
from roboaccord.report import render_report, write_report
from roboaccord.report.curves import POINTS, colour_of, thin_peaks
from roboaccord.report.energy import book_figure, book_rows
from roboaccord.report.figures import figures_of
from roboaccord.report.plots import Plot, render_plots
from roboaccord.report.signals import signals_of
from roboaccord.report.tables import levels_of

SECTIONS = [
    "verdict",
    "levels",
    "signals",
    "path",
    "one-step",
    "convergence",
    "distance",
    "energy",
    "events",
    "metrics",
    "repeat",
]


def motion(offset: float = 0.0, samples: int = 4001) -> Trajectory:
    time = np.linspace(0.0, 4.0, samples)
    wave = np.sin(time)[:, None] + offset
    return Trajectory(
        joints=("elbow",),
        time=time,
        q=wave,
        qd=wave,
        effort=wave,
        position=np.column_stack([time, 0.1 * np.sin(time) + offset, 0 * time]),
        orientation=np.tile([0.0, 0.0, 0.0, 1.0], (samples, 1)),
        twist=np.zeros((samples, 6)),
    )


def finding(outcome: str, reason: str = "") -> dict[str, str]:
    return {"outcome": outcome, "reason": reason, "quantity": "", "where": ""}


def findings() -> dict[str, Any]:
    time = np.linspace(0.0, 4.0, 4001).tolist()
    ramp = [1e-6 * t for t in time]
    runs = {
        "dt": [1e-3, 5e-4],
        "error": [2e-3, 1e-3],
        "order": 1.0,
        "expected_order": 1,
        "floor": 1e-12,
        "left": 1e-9,
        "bound": 1e-8,
        "where": "x of a_link",
        "time": time,
        "distance": {"0.001": ramp, "0.0005": ramp},
    }
    channels = {"friction": ramp, "damping": ramp, "stops": ramp, "impacts": ramp}
    energy = {
        "time": time,
        "kinetic": [2.0 + t for t in time],
        "net_work": [10.0 * t for t in time],
        "potential": [-1.5 * t for t in time],
        **channels,
        "stops": [4.5 * t for t in time],
        "rest": [6.0 * t for t in time],
        "how": {**dict.fromkeys(channels, "measured by dart"), "impacts": "not measured"},
        "reason": None,
    }
    return {
        "robot": "arm",
        "scenario": "swing",
        "verdict": "fail",
        "reasons": ["dart: accelerations differ by 0.01 relative, allowed 1e-08 </script>"],
        "levels": {
            "acceleration": {"dart": finding("outside", "mass of a_link is +1 % off")},
            "one_step": {"dart": finding("within")},
            "trajectory": {"dart": finding("excused", "it rebounds")},
        },
        "excused": 1,
        "judged": 4.0,
        "duration": 8.0,
        "engines": ["reference", "dart"],
        "seed": 7,
        "friction": {"law": "ellipse", "mu_along": 0.1},
        "versions": {"reference": "1.0", "dart": "6.20"},
        "command": "accord crosscheck arm swing",
        "acceleration": {"dart": {"max": 0.01, "states": 100, "reason": None}},
        "masses": {
            "dart": {
                "total": 1.01,
                "reference": 1.0,
                "differences": [{"quantity": "mass", "where": "a_link", "text": "+1 % off"}],
            }
        },
        "one_step": {
            "dart": {
                "rms": 1e-6,
                "max": 1e-5,
                "relative": 0.01,
                "order": 1.0,
                "left": 1e-9,
                "bound": 1e-8,
                "floor": 1e-12,
                "unit": "rad/s",
                "time": time,
                "error": ramp,
            }
        },
        "trajectory": {"reference": {**runs, "order": None}, "dart": runs},
        "noise": {
            "reference": {"floor": 2e-15, "rate": None, "horizon": None},
            "dart": {"floor": 3e-3, "rate": 7.5, "horizon": 3.125},
        },
        "energy": {"reference": energy, "dart": energy},
        "tolerances": {
            "acceleration": 1e-8,
            "mass": 1e-6,
            "one_step": 0.05,
            "one_step_order": 0.3,
            "order": 0.1,
            "trajectory": {},
        },
        "metrics": {"reference": {"work": 2.0, "ratio": None}, "dart": {"work": 2.2, "ratio": 1.0}},
        "events": {
            "reference": [],
            "dart": [{"time": 0.5, "kind": "impact", "subject": "elbow", "impulse": 0.1}],
        },
    }


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(findings(), {"reference": motion(), "dart": motion(1e-3)}, path)
    assert path.stat().st_size < 8e6
    return path.read_text(encoding="utf-8")


class Loads(HTMLParser):
    """Collect ids, and whatever a tag would load."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.loads: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for key, value in attrs:
            if key == "id":
                self.ids.append(value or "")
            if key in ("src", "srcset", "action") or (key == "href" and tag in ("link", "base")):
                self.loads.append(value or "")


def test_has_every_section_once(page: str) -> None:
    parser = Loads()
    parser.feed(page)
    assert [name for name in parser.ids if name in SECTIONS] == SECTIONS


def test_loads_nothing_from_anywhere(page: str) -> None:
    parser = Loads()
    parser.feed(page)
    assert all(target.startswith("data:") for target in parser.loads)
    own = re.sub(r"<script>/\*.*?</script>", "", page, count=1, flags=re.DOTALL)
    assert len(own) < len(page) - 1e6, "plotly.js is there, with its licence comment first"
    assert not re.search(r"https?://|@import|url\(", own)


def test_escapes_what_it_is_given(page: str) -> None:
    assert "allowed 1e-08 &lt;/script&gt;" in page


def test_says_what_to_repeat_and_with_what(page: str) -> None:
    for text in ("accord crosscheck arm swing", "6.20", "ellipse", "mu along", "a_link +1 %"):
        assert text in page


def test_marks_follow_the_judgement() -> None:
    acceleration, model, one_step, trajectory, _ = levels_of(findings())
    outcomes = [level.rows[0][2] for level in (acceleration, model, one_step)]
    assert outcomes == ["outside", "outside", "within"]
    assert [row[2] for row in trajectory.rows] == ["", "excused"]


def test_the_horizon_is_said(page: str) -> None:
    noise = levels_of(findings())[-1]
    cells = [["2e-12 mm", "–", "the end"], ["3 mm", "7.5 1/s", "t = 3.125 s"]]
    assert [row[1] for row in noise.rows] == cells
    assert "agree until" in page


def test_the_head_says_the_verdict_and_what_was_judged(page: str) -> None:
    """As the terminal does: the reference's row has no mark, excuses are counted."""
    assert "fail, 1 excused, judged 0 to 4 s of 8 s" in page
    assert "it rebounds" in page


def test_a_kinematic_reference_says_so() -> None:
    result = findings()
    result["acceleration"]["dart"] = {"max": None, "states": 0, "reason": "it is kinematic"}
    level = levels_of(result)[0]
    assert "it is kinematic" in level.rows[0][1][0]


def test_the_book_has_each_item_at_the_end_and_its_share_of_what_went_in() -> None:
    """In went 40 J of work and 6 J of potential energy; the kinetic energy rose from 2 to 6 J."""
    books = findings()["energy"]
    (_, cells, how), _ = book_rows(books)
    assert cells[:3] == ["40 (87 %)", "4 (8.7 %)", "-6 (-13 %)"]
    assert cells[5:] == ["18 (39 %)", "–", "24 (52 %)"]
    assert how == "friction, damping, stops: measured by dart; impacts: not measured"
    figure = book_figure(books)
    slopes = {(c["yaxis"], c["name"]): c["y"][-1] / c["x"][-1] for c in figure["data"]}
    assert slopes["y2", "stops"] == pytest.approx(4.5)
    assert slopes["y", "kinetic"] == pytest.approx(1.0)  # its change


def test_kinematic_motion_has_no_book() -> None:
    result = findings()
    result["energy"] = {e: {"reason": "kinematic: no energy book"} for e in result["engines"]}
    runs = {"reference": motion(), "dart": motion(1e-3)}
    assert "plot-book" not in render_report(result, runs)
    assert "kinematic: no energy book" in render_report(result, runs)


def test_thinning_keeps_the_peak() -> None:
    values = np.zeros(50_000)
    values[31_234] = 5.0
    time, kept = thin_peaks(np.arange(50_000.0), values)
    assert len(kept) <= POINTS
    assert time[np.argmax(kept)] == 31_234


def test_an_engine_keeps_its_colour_and_axes_have_units() -> None:
    runs = {"reference": motion(), "dart": motion(1e-3)}
    for figure in figures_of(findings(), runs).values():
        for curve in figure["data"]:
            if curve["name"].startswith("dart"):
                assert curve["line"]["color"] == colour_of("dart", ["reference", "dart"])
        for name, axis in figure["layout"].items():
            assert "title" not in axis or re.search(r"\[.+\]$", axis["title"]["text"]), name


def test_orientation_shows_the_turns_that_there_are() -> None:
    """A base that rolls more than a turn has a roll without jumps; others have yaw alone."""
    still = signals_of({"reference": motion()}, ["reference"])["groups"]["base orientation"]
    assert list(still["signals"]) == ["yaw"]
    angle = 2.0 * np.linspace(0.0, 4.0, 4001)
    none = np.zeros_like(angle)
    orientation = np.column_stack([np.sin(angle / 2), none, none, np.cos(angle / 2)])
    rolling = replace(motion(), orientation=orientation)
    turns = signals_of({"reference": rolling}, ["reference"])["groups"]["base orientation"]
    assert list(turns["signals"]) == ["roll", "yaw"]
    assert turns["signals"]["roll"]["value"]["reference"][-1] == pytest.approx(7.99, abs=0.02)


def test_a_page_of_plots_stands_alone_and_escapes_what_it_is_given() -> None:
    """Flat plots and one in space have a place each; figures and the command are told."""
    flat = {"data": [{"type": "heatmap", "z": [[0, None]]}], "layout": {"xaxis": {}}}
    solid = {"data": [{"type": "surface", "z": [[0, 1]]}], "layout": {"scene": {}}}
    page = render_plots(
        "A <b> page", "lead", [Plot("map", "caption", flat), Plot("hill", "caption", solid)],
        command="accord list", facts={"lowest": "1 & 2"},
    )  # fmt: skip
    assert "<b>" not in page.split("<script>")[0]
    assert "1 &amp; 2" in page and "accord list" in page
    assert 'id="plot_0"' in page and 'id="plot_1"' in page and 'id="plot_2"' not in page
    assert not re.search(r"<(script|link|img)[^>]+(src|href)=.http", page)

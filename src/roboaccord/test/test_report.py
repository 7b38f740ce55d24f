"""The report holds every section, stands alone, and judges by the tolerances."""

from __future__ import annotations

import base64
import gzip
import json
import math
import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
from roboaccord.cli.levels import outcome_tables
from roboaccord.contract import Certificate, Certifier, ContactForce
from roboaccord.contract.outcome import Code, Finding, Levels, Outcome, because, stand_in
from roboaccord.contract.trajectory import Event, Trajectory
from roboaccord.crosscheck.causes.resolution import Resolved
from roboaccord.crosscheck.levels import LEVELS
from roboaccord.crosscheck.levels.acceleration import (
    AccelerationCheck,
    AccelerationLevel,
    ModelCheck,
)
from roboaccord.crosscheck.levels.events import EventDifference, EventsCheck
from roboaccord.crosscheck.levels.invariance import InvarianceCheck, MotionChange
from roboaccord.crosscheck.levels.repeat import RepeatCheck
from roboaccord.crosscheck.measures.convergence import ConvergenceCheck
from roboaccord.crosscheck.measures.energy_parts import EnergyCheck
from roboaccord.crosscheck.measures.one_step import OneStepCheck
from roboaccord.crosscheck.measures.scheme import SchemeCheck
from roboaccord.crosscheck.noise import Noise
from roboaccord.crosscheck.report import Report
from roboaccord.engines.differences import Difference
from roboaccord.numerics.rotations import quaternion_product, rpy_quaternion, turn_quaternion
from roboaccord.report import render_report
from roboaccord.report.curves import MAX_POINTS, colour_of, thin_peaks
from roboaccord.report.energy import book_figure, book_rows
from roboaccord.report.figures import figures_of, signals_of
from roboaccord.report.plots import Plot, render_plots
from roboaccord.report.tables import metric_rows, tables_of
from roboaccord.run.energy_book import EnergyBook, NoBook
from roboaccord.scenario.scenario import Tolerances

SECTIONS = [
    "verdict", "levels", "resolution", "signals", "path", "one-step", "convergence", "distance",
    "energy", "certificate", "events", "metrics", "repeat",
]  # fmt: skip


def motion(offset: float = 0.0, samples: int = 4001) -> Trajectory:
    time = np.linspace(0.0, 4.0, samples)
    wave = np.sin(time)[:, None] + offset
    return Trajectory(
        joints=("elbow",), time=time, q=wave, qd=wave, effort=wave,
        position=np.column_stack([time, 0.1 * np.sin(time) + offset, 0 * time]),
        orientation=np.tile([0.0, 0.0, 0.0, 1.0], (samples, 1)), twist=np.zeros((samples, 6)),
    )  # fmt: skip


def findings() -> Report:
    """Return a report as a check makes it, with figures that are made up."""
    time = np.linspace(0.0, 4.0, 4001)
    ramp = 1e-6 * time
    runs = ConvergenceCheck(
        dt=[1e-3, 5e-4], error=[2e-3, 1e-3], order=1.0, expected_order=1, floor=1e-12,
        left=1e-9, bound=1e-8, where="x of a_link", since=None, time=time,
        distance={"0.001": ramp, "0.0005": ramp}, range=1.0,
    )  # fmt: skip
    channels = dict.fromkeys(("friction", "damping", "stops", "impacts"), "measured by dart")
    energy = EnergyBook(
        time=time, kinetic=2.0 + time, net_work=10.0 * time, potential=-1.5 * time,
        friction=ramp, damping=ramp, stops=4.5 * time, impacts=ramp, rest=6.0 * time,
        how={**channels, "impacts": "not measured"}, reason=None,
    )  # fmt: skip
    off = because(Code.TEXT, text="accelerations differ by 0.01, allowed 1e-08 </script>")
    remainder = because(Code.RUN_REMAINDER, where="x of a_link", left=1e-7, bound=1e-8)
    by_level = {
        "acceleration": Finding.outside(off, quantity="mass", where="a_link"),
        "scheme": Finding.outside(where="elbow", size=2e-12),
        "one_step": Finding.within(),
        "trajectory": Finding(Outcome.EXCUSED, (remainder,), excuse="it rebounds"),
    }
    share = because(Code.OFF_BY_SHARE, share=0.01, signed=True)
    mass = Difference("mass", "a_link", 0.01, 1e-6, share)
    steps = OneStepCheck(
        1e-6, 1e-5, 0.01, 0.0, time, ramp, order=1.0, left=1e-9, bound=1e-8, floor=1e-12
    )
    checks = {
        "acceleration": {
            "dart": AccelerationCheck(0.01, 100, None, ModelCheck(1.01, 1.0, (mass,)))
        },
        "scheme": {"dart": SchemeCheck(2e-12, 3e-13, "rate", "elbow", 0.5, 990, 10)},
        "repeat": {"dart": RepeatCheck()},
        "invariance": {
            "dart": InvarianceCheck(0.4, {"mirrored": MotionChange(0.0, 1e-12, "rate", "a", 0.1)})
        },
        "one_step": {"dart": steps},
        "trajectory": {"reference": replace(runs, order=None), "dart": runs},
        "events": {
            "dart": EventsCheck(1, 1, (EventDifference("impact", "elbow", 0.5, "impulse"),))
        },
        "energy": {"dart": EnergyCheck(2e-6, 1e-6, 3e-6, 0.25, 0.01, True, 1e-3)},
    }
    levels = [level for level in LEVELS if level.name in checks]
    return Report(
        robot="arm", scenario="swing", verdict="fail",
        levels=Levels.of(replace(f, level=n, engine="dart") for n, f in by_level.items()),
        checks=checks,
        rows={
            level.name: {engine: level.rows(check) for engine, check in checks[level.name].items()}
            for level in levels
        },
        titles={level.name: level.title for level in levels}, judged=4.0, duration=8.0,
        engines=["reference", "dart"], seed=7, friction={"law": "ellipse", "mu_along": 0.1},
        versions={"reference": "1.0", "dart": "6.20"},
        resolution={"dart": [Resolved("gear", "elbow", "scheme", 1e-9, "1")]},
        noise={"reference": Noise(2e-15, None, None), "dart": Noise(3e-3, 7.5, 3.125)},
        tolerances=Tolerances(one_step=0.05),
        metrics={"reference": {"work": 2.0, "ratio": math.nan}, "dart": {"work": 2.2, "ratio": 1}},
        events={"reference": (), "dart": (Event(0.5, "impact", "elbow", 0.1),)},
        command="accord crosscheck arm swing", perturbations=[],
        energy={"reference": energy, "dart": energy},
        certificate={"reference": "does not apply: no forces", "dart": certificate()},
        trajectories={"reference": motion(), "dart": motion(1e-3)},
    )  # fmt: skip


def certificate() -> Certificate:
    """Return one with an overlap of 1 mm at 0.25 s, and without momentum and energy."""
    certifier, up, still = Certifier(10.0), np.array([0.0, 0.0, 1.0]), np.zeros(3)
    certifier.add(0.25, [ContactForce(up, 10.0 * up, -1e-3, still, 0.5)])
    return certifier.result()


def test_a_law_of_contact_that_the_reference_breaks_is_stated() -> None:
    """It is a reason of the verdict, and no row or column of engines."""
    figures = {"law": "signorini", "value": 1e-3, "unit": "m", "time": 0.25, "allowed": 1e-8}
    broken = Finding.outside(because(Code.CONTACT_LAW, **figures))
    broken = replace(broken, level="certificate", engine="reference")
    report, levels = findings(), Levels.of([*findings().levels.findings, broken])
    report = replace(report, levels=levels)
    assert report.reasons[0].startswith("reference: its own contacts break the law signorini")
    assert report.reasons[0] in render_report(report)
    (table,) = outcome_tables(report)
    assert table.row_count == len(report.of_engines) == len(levels) - 1


@pytest.fixture(scope="module")
def page() -> str:
    page = render_report(findings())
    assert len(page.encode()) < 8e6
    return page


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


def test_each_value_of_a_table_has_its_header_beside_it(page: str) -> None:
    """So that narrow screens can show rows as lists; what is short is not broken."""
    tables = re.findall(r'<div class="scroll"><table.*?</table>', page, re.DOTALL)
    assert len(tables) > 3
    for table in tables:
        heads = [re.sub("<.*?>", "", head).strip() for head in re.findall(r"<th>(.*?)</th>", table)]
        for row in re.findall(r"<tr>.*?</tr>", table, re.DOTALL)[1:]:
            found = re.findall(r'<td data-head="([^"]*)"', row)
            assert found and found == heads[: len(found)]
    assert re.search(r'<td data-head="states" data-short>\d+</td>', page)


def test_loads_nothing_from_anywhere(page: str) -> None:
    parser = Loads()
    parser.feed(page)
    assert all(target.startswith("data:") for target in parser.loads)
    own = re.sub(r"<script>/\*.*?</script>", "", page, count=1, flags=re.DOTALL)
    assert len(own) < len(page) - 1e6, "plotly.js is there, with its licence comment first"
    assert len(page) < 2.5e6
    (packed,) = re.findall(r'unpack\("([^"]+)"\)', page)
    assert b"Plotly" in gzip.decompress(base64.b64decode(packed))
    assert not re.search(r"https?://|@import|url\(", own)


def test_escapes_what_it_is_given(page: str) -> None:
    assert "allowed 1e-08 &lt;/script&gt;" in page


def test_says_what_to_repeat_and_with_what(page: str) -> None:
    for text in ("accord crosscheck arm swing", "6.20", "ellipse", "mu along", "a_link +1 %"):
        assert text in page


def test_marks_follow_the_judgement() -> None:
    tables = {table.level: table for table in tables_of(findings())}
    assert list(tables) == [level.name for level in LEVELS if level.name in tables] + ["noise"]
    assert tables["invariance"].rows[0].cells == ["–", "0 (1e-12)", "–", "–"]
    levels = ("acceleration", "scheme", "one_step")
    assert [tables[n].rows[0].outcome for n in levels] == ["outside", "outside", "within"]
    assert tables["scheme"].rows[0].cells == ["2e-12", "3e-13", "rate, elbow", "990", "990", "10"]
    assert [row.outcome for row in tables["trajectory"].rows] == ["", "excused"]
    events, energy = tables["events"], tables["energy"]
    assert (events.title, events.rows[0].cells) == (
        "Events",
        ["1", "1", "impact of elbow at 0.5 s"],
    )
    assert (energy.title, energy.rows[0].cells) == ("Energy", ["2e-06", "1e-06", "0.01", "0.25"])


def test_the_resolution_is_said(page: str) -> None:
    assert "would have seen gear of elbow 1e-07 %" in re.sub(r"<.*?>", "", page)


def test_the_horizon_is_said(page: str) -> None:
    noise = tables_of(findings())[-1]
    cells = [["2e-12 mm", "–", "the end"], ["3 mm", "7.5 1/s", "t = 3.125 s"]]
    assert [row.cells for row in noise.rows] == cells
    assert "agree until" in page


def test_the_head_says_the_verdict_and_what_was_judged(page: str) -> None:
    """As the terminal does: the reference's row has no mark, excuses are counted."""
    assert "fail, 1 excused, judged 0 to 4 s of 8 s" in page and "it rebounds" in page


def test_a_kinematic_reference_says_so() -> None:
    """No error in the table, and beside the outcome, which is that of one step, the reason."""
    check, report = AccelerationCheck(None, 0, because(Code.KINEMATIC)), findings()
    found = stand_in(report.levels.one_step["dart"], "acceleration", because(Code.KINEMATIC))
    still = replace(
        report,
        levels=Levels({**report.levels, "acceleration": {"dart": found}}),
        rows={**report.rows, "acceleration": {"dart": AccelerationLevel().rows(check)}},
    )
    (row,) = tables_of(still)[0].rows
    assert (row.cells[0], row.outcome) == ("–", "within")
    assert "the reference is kinematic" in render_report(still)


def test_the_book_has_each_item_at_the_end_and_its_share_of_what_went_in() -> None:
    """In went 40 J of work and 6 J of potential energy; the kinetic energy rose from 2 to 6 J."""
    books = findings().energy
    (_, cells, how), _ = book_rows(books)
    assert cells[:3] == ["40 (87 %)", "4 (8.7 %)", "-6 (-13 %)"]
    assert cells[5:] == ["18 (39 %)", "–", "24 (52 %)"]
    assert how == "friction, damping, stops: measured by dart; impacts: not measured"
    figure: Any = book_figure({e: b for e, b in books.items() if isinstance(b, EnergyBook)})
    slopes = {(c["yaxis"], c["name"]): c["y"][-1] / c["x"][-1] for c in figure["data"]}
    assert slopes["y2", "stops"] == pytest.approx(4.5)
    assert slopes["y", "kinetic"] == pytest.approx(1.0)  # its change


def test_the_certificate_has_the_worst_and_when_and_one_line_where_there_is_none(page: str) -> None:
    """A value with its time, a dash for what was not measured, and a reason once for all."""
    (section,) = re.findall(r'<section id="certificate">(.*?)</section>', page, re.DOTALL)
    cells = [
        re.sub("<.*?>", "", cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", section, re.DOTALL)
    ]
    assert [" ".join(cell.split()) for cell in cells] == [
        "dart",
        "0.001 at 0.25 s",
        "0",
        "0",
        "–",
        "–",
    ]
    assert (
        section.count("does not apply") == 1 and "reference: does not apply: no forces." in section
    )
    reason = "does not apply: the scenario has no contact"
    none = render_report(
        replace(findings(), certificate=dict.fromkeys(["reference", "dart"], reason))
    )
    assert f"reference, dart: {reason}." in none and "Signorini [m]" not in none
    for data in (findings().to_json(), findings().summary()):
        certificates: Any = data["certificate"]
        assert certificates["reference"] == "does not apply: no forces"
        assert certificates["dart"]["signorini"] == {"value": 1e-3, "time": 0.25, "unit": "m"}


def test_kinematic_motion_has_no_book() -> None:
    page = render_report(replace(findings(), energy={"reference": NoBook(), "dart": NoBook()}))
    assert "plot-book" not in page and "kinematic: no energy book" in page


def test_json_has_the_keys_and_the_units_of_the_fields() -> None:
    """The short one and the whole; NaN is null, and the path of the page is the command's."""
    short, whole = findings().to_json(), findings().summary()
    measured = {"acceleration", "one_step", "trajectory"}
    assert set(whole) > set(short) - measured and "trajectories" not in whole
    checks: Any = whole["checks"]
    assert measured <= set(short) and set(checks) == set(findings().checks) > measured
    json.dumps([short, whole], allow_nan=False)
    levels: Any = short["levels"]
    assert levels["trajectory"]["dart"]["reason"].startswith("it rebounds (")
    assert set(levels) == {"acceleration", "scheme", "one_step", "trajectory"}
    assert levels["trajectory"]["dart"]["codes"] == ["run_remainder"]
    assert checks["one_step"]["dart"]["unit"] == "rad/s"
    metrics: Any = whole["metrics"]
    assert metrics["reference"]["ratio"] is None
    assert metric_rows(findings().metrics)[1][2:] == ["–", "1"]


def test_without_engines_the_report_says_so() -> None:
    assert "no engine" in replace(findings(), verdict=None).describe()


def test_thinning_keeps_the_peak() -> None:
    values = np.zeros(50_000)
    values[31_234] = 5.0
    time, kept = thin_peaks(np.arange(50_000.0), values)
    assert len(kept) <= MAX_POINTS
    assert time[np.argmax(kept)] == 31_234


def test_an_engine_keeps_its_colour_and_axes_have_units() -> None:
    figures: dict[str, Any] = {**figures_of(findings())}
    for figure in figures.values():
        for curve in figure["data"]:
            if curve["name"].startswith("dart"):
                assert curve["line"]["color"] == colour_of("dart", ["reference", "dart"])
        for name, axis in figure["layout"].items():
            assert "title" not in axis or re.search(r"\[.+\]$", axis["title"]["text"]), name


def test_orientation_shows_the_turns_that_there_are() -> None:
    """A base that rolls more than a turn has a roll without jumps; others have yaw alone."""
    still: Any = signals_of({"reference": motion()}, ["reference"])["groups"]
    assert list(still["base orientation"]["signals"]) == ["yaw"]
    angle = 2.0 * np.linspace(0.0, 4.0, 4001)
    none = np.zeros_like(angle)
    orientation = np.column_stack([np.sin(angle / 2), none, none, np.cos(angle / 2)])
    rolling = replace(motion(), orientation=orientation)
    groups: Any = signals_of({"reference": rolling}, ["reference"])["groups"]
    turns = groups["base orientation"]["signals"]
    assert list(turns) == ["roll", "yaw"]
    assert turns["roll"]["value"]["reference"][-1] == pytest.approx(7.99, abs=0.02)


def test_orientations_near_the_vertical_differ_by_the_rotation_between() -> None:
    """At a pitch of 90 degrees two runs are 1e-6 rad apart; roll and yaw would be by degrees."""
    upright = rpy_quaternion(0.3, np.pi / 2, -0.7)
    turned = quaternion_product(turn_quaternion(np.array([1e-6, 0.0, 0.0])), upright)
    still, rows = motion(), (len(motion()), 1)
    quaternions = {"reference": upright, "dart": -turned}
    runs = {e: replace(still, orientation=np.tile(q, rows)) for e, q in quaternions.items()}
    groups: Any = signals_of(runs, list(runs))["groups"]
    apart = groups["base orientation"]["signals"]["yaw"]["apart"]["dart"]
    assert np.abs(apart).max() < 1e-15


def test_a_page_of_plots_stands_alone_and_escapes_what_it_is_given() -> None:
    """Flat plots and one in space have a place each; figures and the command are listed."""
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

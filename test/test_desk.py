"""Plots and comparison of two short runs of the snake, one of them with more friction."""

from __future__ import annotations

import json
import shutil
import xml.etree.ElementTree as ET
from pathlib import Path

import matplotlib.image
import numpy as np
import pytest
from roboaccord import AccordError, Setup, load_scenario
from roboaccord.bag.folder import last_runs
from roboaccord.bag.reader import read_run
from roboaccord.cli.main import run
from roboaccord.report import Comparison, RunSignals, compare, plot
from roboaccord.report.overlay import over_time
from roboaccord.run.runner import Run, RunRequest, run_direct

pytestmark = pytest.mark.thorough

CHANGES = {"first": [], "rough": ["friction.mu_along=0.5"]}


@pytest.fixture(scope="module")
def top(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("desk")


@pytest.fixture(scope="module")
def runs(top: Path) -> dict[str, Run]:
    """Return the runs by name, whose bags are in the folder `runs`, the older first."""

    def ran(name: str, changes: list[str]) -> Run:
        setup = Setup.of(load_scenario("snake", "snake", "serpenoid", ["duration=0.3", *changes]))
        (top / "runs" / name).mkdir(parents=True)
        bag = top / "runs" / name / "bag"
        return run_direct(RunRequest(setup=setup, engine="reference", bag=bag))

    return {name: ran(name, changes) for name, changes in CHANGES.items()}


@pytest.fixture(scope="module")
def comparison(runs: dict[str, Run], top: Path) -> Comparison:
    return compare(*(top / "runs" / name for name in runs))


@pytest.fixture
def at(runs: dict[str, Run], top: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(top)
    monkeypatch.setenv("COLUMNS", "80")
    return top


def chain(run: Run) -> tuple[list[str], np.ndarray]:
    """Return the snake's links from the rear, and their origins (k, links, 2) [m].

    By complex numbers: each joint is a vector ahead of the frame behind it, and turns by its angle.
    """
    motion = run.trajectory
    spots = {
        joint.find("child").get("link"): (joint.get("name"), joint.find("origin").get("xyz"))
        for joint in ET.fromstring(read_run(run.request.bag).urdf).iter("joint")
        if joint.get("name", "").startswith("joint_")
    }
    point = motion.position[:, 0] + 1j * motion.position[:, 1]
    yaw = 2.0 * np.arctan2(motion.orientation[:, 2], motion.orientation[:, 3])
    names, places = ["base_link"], [point]
    for link in sorted(spots, reverse=True):  # joint_21 is the rearmost
        joint, origin = spots[link]
        point = point + float(origin.split()[0]) * np.exp(1j * yaw)
        yaw = yaw + motion.q[:, motion.joints.index(joint)]
        names.append(link)
        places.append(point)
    z = np.array(places).T
    return names, np.stack([z.real, z.imag], axis=-1)


def test_what_changed_is_shown_and_figures_are_the_runs_own(
    comparison: Comparison, runs: dict[str, Run]
) -> None:
    assert [(c.key, *c.values) for c in comparison.changes] == [("friction.mu_along", "0.1", "0.5")]
    figures = {entry.name: entry.values for entry in comparison.figures}
    of_runs = [made.motion.figures() for made in runs.values()]
    assert set(figures) == set(of_runs[0])
    for name in ("speed", "work", "peak_effort", "cost_of_transport"):
        assert figures[name] == pytest.approx([entry[name] for entry in of_runs], rel=1e-12)
    assert of_runs[0]["speed"] > 2.0 * of_runs[1]["speed"]
    assert comparison.verdict is None and comparison.to_json()["verdict"] == "fail"


def test_motions_part_when_and_where_an_own_kinematics_says(
    comparison: Comparison, runs: dict[str, Run]
) -> None:
    """The first sample at which an origin is farther away than 1 mm; no joint is by 1 mrad."""
    names, places = chain(runs["first"])
    gap = np.linalg.norm(chain(runs["rough"])[1] - places, axis=2)
    first = int(np.flatnonzero(gap.max(axis=1) > 1e-3)[0])
    links, joints = comparison.partings
    assert (links.kind, links.time) == ("link", runs["first"].trajectory.time[first])
    assert links.where == names[gap[first].argmax()]
    assert links.largest == pytest.approx(gap.max(), rel=1e-9)
    q = [made.trajectory.q for made in runs.values()]
    assert joints.largest == np.abs(q[1] - q[0]).max() and joints.time is None
    sooner = compare(*(made.request.bag for made in runs.values()), tolerance=1e-5)
    wanted = int(np.flatnonzero(gap.max(axis=1) > 1e-5)[0])
    assert sooner.partings[0].time == runs["first"].trajectory.time[wanted]
    assert sooner.verdict == "fail"


def test_signals_are_what_their_names_say(runs: dict[str, Run]) -> None:
    """Links by own kinematics; energy, momentum and the force from outside obey their laws."""
    run = runs["first"]
    signals, motion, time = RunSignals(run.request.bag), run.trajectory, run.trajectory.time
    names, places = chain(run)
    for name, place in zip(names, places.swapaxes(0, 1), strict=True):
        for i, axis in enumerate("xy"):
            np.testing.assert_allclose(
                signals[f"link/{name}/{axis}"].values, place[:, i], atol=1e-12
            )
    np.testing.assert_array_equal(signals["qd/joint_03"].values, motion.qd[:, 2])
    np.testing.assert_array_equal(signals["base/x"].values, motion.position[:, 0])
    # The force changes the momentum, whose integral is the displacement (trapezoids).
    x, force = signals["com/x"].values, signals["contact/x"].values[1:]
    tree = run.request.setup.tree
    mass = sum(link.mass for link in tree.links)
    velocity = np.concatenate([[0.0], np.cumsum(force * np.diff(time)) / mass])
    moved = np.sum(0.5 * (velocity[1:] + velocity[:-1]) * np.diff(time))
    assert moved == pytest.approx(x[-1] - x[0], rel=1e-3)
    weight = mass * run.request.setup.parameters.gravity
    np.testing.assert_allclose(signals["contact/z"].values[1:], weight, rtol=1e-12)
    kinetic = signals["energy/kinetic"].values
    assert kinetic[0] == 0.0 and 0.0 < kinetic[-1] < signals["energy/work"].values[-1]
    assert signals["energy/work"].values[-1] == pytest.approx(run.motion.figures()["net_work"])


def test_panels_have_units_and_a_curve_for_each_run(runs: dict[str, Run]) -> None:
    drawn = plot([made.request.bag for made in runs.values()], ["qd/*", "base/x", "energy/*"])
    assert drawn.runs == ["mu_along 0.1", "mu_along 0.5"]
    units = [panel.ylabel for panel in drawn.panels]
    assert units == ["joint velocity [rad/s]", "x of base_link [m]", "energy [J]"]
    assert [len(panel.traces) for panel in drawn.panels] == [42, 2, 8]
    axes = drawn.figure().axes
    assert [a.get_ylabel() for a in axes] == units and axes[0].get_xlabel() == "time [s]"
    words = {text.get_text() for text in axes[0].get_legend().get_texts()}
    assert words == {*(f"qd/joint_{i:02d}" for i in range(1, 22)), *drawn.runs}
    line = axes[1].get_lines()[1]
    np.testing.assert_array_equal(line.get_ydata(), runs["rough"].trajectory.position[:, 0])
    path = plot([runs["first"].request.bag], ["com/x", "com/y"], xy=True).panels[0]
    assert path.equal and path.xlabel == "x of the centre of mass [m]"
    titles = [panel.title for panel in plot([runs["first"].request.bag]).panels]
    assert titles == ["com/y against com/x", "joint position", "com/speed"]
    run_signals = RunSignals(runs["first"].request.bag)
    assert over_time([run_signals], ["com/x", "com/speed"])[1].ylabel.endswith("[m/s]")


def test_former_names_of_signals_are_read(runs: dict[str, Run]) -> None:
    """`JOINT.q`, `base.x`, `link:LINK.x` and their patterns, in plots and comparisons."""
    run = RunSignals(runs["first"].request.bag)
    for former, now in {
        "joint_01.q": ["q/joint_01"], "joint_01.e*": ["effort/joint_01"],
        "base.v?": ["base/vx", "base/vy", "base/vz"], "com.speed": ["com/speed"],
        "link:base_link.x": ["link/base_link/x"], "*.effort": run.choose("effort/*"),
    }.items():  # fmt: skip
        assert run.choose(former) == now and now
    found = compare(run, run, signals=["joint_01.q", "base.x"])
    assert [*found.pairs[0].signals] == ["q/joint_01", "base/x"]


def test_runs_of_different_length_are_compared_as_far_as_both_last(
    runs: dict[str, Run], at: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Half as long, the run is the same: in figures, motion and verdict, and that is said."""
    setup = Setup.of(load_scenario("snake", "snake", "serpenoid", ["duration=0.15"]))
    (at / "short").mkdir()
    run_direct(RunRequest(setup=setup, engine="reference", bag=at / "short" / "bag"))
    assert run(["compare", "runs/first", "short", "--plot", "short.html"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "compared up to 0.15 s, where the shortest run ends" in lines
    assert "duration  0.3 -> 0.15 s" in lines
    assert any(line.startswith("pass at tolerance") for line in lines)
    assert sum("(same)" in line for line in lines) > 5 and "%)" not in "".join(lines)
    assert "distance from duration 0.3, compared up to 0.15 s" in Path("short.html").read_text()
    assert compare("short", runs["first"].request.bag).end == pytest.approx(0.15, abs=1e-9)
    shutil.rmtree(at / "short")


def test_files_show_it(runs: dict[str, Run], at: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A PNG has ink, an SVG words, a page the numbers; the newest run is the default."""
    assert run(["plot", "--out", "a.png"]) == 0
    assert matplotlib.image.imread("a.png")[..., :3].std() > 0.05
    assert run(["plot", "runs/first", "runs/rough", "q/*", "--out", "a.svg"]) == 0
    assert "joint position [rad]" in Path("a.svg").read_text()
    assert run(["plot", "runs/first", "base/x", "--out", "a.html"]) == 0
    last = runs["first"].trajectory.position[-1, 0]
    assert f"{last:.6g}" in Path("a.html").read_text()
    assert run(["compare", "--plot", "c.png"]) == 0 and Path("c.png").is_file()
    assert run(["plot"]) == 0 and Path("runs/plot.png").is_file()
    capsys.readouterr()
    assert run(["plot", "--list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert {"qd/*", "link/*/z", "contact/force"} <= {each["pattern"] for each in listed["signals"]}
    assert "energy/total" in listed["names"]


def test_the_command_shows_the_change_first_in_80_columns(
    runs: dict[str, Run], at: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compare"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    speeds = " -> ".join(f"{made.motion.figures()['speed']:.4g}" for made in runs.values())
    place = {word: i for i, line in enumerate(lines) for word in (
        "friction.mu_along  0.1 -> 0.5", f"{speeds} m/s", "of A and B differ by", "worst of 21",
    ) if word in line}  # fmt: skip
    assert len(place) == 4 and [*place] == sorted(place, key=place.get)
    assert "at tolerance" not in "".join(lines)
    assert run(["compare", "runs/first", "runs/first"]) == 0
    assert "pass at tolerance 1e-09" in capsys.readouterr().out
    assert run(["compare", "runs/first", "runs/rough", "--tolerance", "0.001"]) == 1
    assert run(["compare", "runs/first", "runs/rough", "runs/first", "--signals", "q/*"]) == 0
    assert "C  unit" in capsys.readouterr().out


def test_scripts_read_what_they_read_before(
    runs: dict[str, Run], at: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Verdict and exit status at the default tolerance, and the deviations of every signal."""
    assert run(["compare", "runs/first/bag", "runs/rough/bag", "--json"]) == 1
    data = json.loads(capsys.readouterr().out)
    assert (data["verdict"], data["options"]) == ("fail", {"tolerance": 1e-9})
    assert data["pairs"][0]["bag"] == "runs/rough/bag" and len(data["pairs"][0]["signals"]) == 69


def test_what_is_neither_run_nor_signal_is_refused(
    runs: dict[str, Run], at: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for words, line in {
        "plot bases/x": "no run and no signal bases/x; did you mean base/x?",
        "plot runs/frist": "no bag runs/frist",
        "plot base/x --xy": "--xy plots one signal against another: name two, not 1",
        "plot --out a.pdf": "a.pdf must end in .png, .svg or .html",
        "compare runs/first": "compare takes two runs or more, or none for the last two",
    }.items():
        assert run(words.split()) == 2
        assert line in capsys.readouterr().err
    with pytest.raises(AccordError, match="holds no recorded run"):
        last_runs(2, at / "nowhere")


def test_the_last_runs_are_none_of_a_cross_check(at: Path) -> None:
    """Whose bags are newer, of other engines and shorter."""
    folder = at / "runs/snake_serpenoid_crosscheck"
    folder.mkdir()
    shutil.copytree(at / "runs/first/bag", folder / "mujoco_bag", copy_function=shutil.copy)
    assert last_runs(2) == [Path("runs/first/bag"), Path("runs/rough/bag")]
    shutil.rmtree(folder)

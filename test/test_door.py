"""The front door: functions that do what commands do, and rooms that list what others may use."""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import inspect
import json
import logging
import os
import pydoc
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import roboaccord as ra
from roboaccord.contract.plugins import lacking
from workspace import PACKAGES, ROOT

SHORT = {"duration": 0.2, "crosscheck.duration": 0.05}
INSIDE = ("roboaccord", "roboaccord_files")  # which are tools of one make, and import modules
USERS = [name for name in PACKAGES if name not in INSIDE]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> ra.Run:
    """Return a run of 0.2 s, recorded."""
    out = tmp_path_factory.mktemp("run")
    return ra.run("snake", "serpenoid", settings=SHORT, out=out)


def sources() -> Iterator[tuple[str, str]]:
    """Yield what others than the core have written, by name: packages, examples, pages."""
    for package in USERS:
        for path in (ROOT / "src" / package / package).rglob("*.py"):
            yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")
        for path in (ROOT / "src" / package).glob("launch/*.py"):
            yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")
    for path in [*ROOT.glob("examples/**/*.py"), *ROOT.glob("launch/**/*.py")]:
        yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]:
        text = page.read_text(encoding="utf-8")
        for block in re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
            yield page.name, block


def beside_the_doors(text: str) -> Iterator[str]:
    """Yield what a source imports, or names in a string to be imported, that no door lists."""
    names = dict[str, str]()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (a.name for a in node.names if a.name.startswith("roboaccord."))
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "roboaccord":
            module = str(node.module)
            listed = importlib.import_module(module).__all__ if module.count(".") < 2 else ()
            if module == "roboaccord":  # a room by its name, whose names are looked at as well
                whole = {a.asname or a.name: f"{module}.{a.name}" for a in node.names}
                names |= {n: room for n, room in whole.items() if room in rooms()}
                listed = [*listed, *(room.rpartition(".")[2] for room in names.values())]
            yield from (f"{module}:{a.name}" for a in node.names if a.name not in listed)
        elif isinstance(node, ast.Attribute) and getattr(node.value, "id", "") in names:
            room = names[node.value.id]  # type: ignore[attr-defined]
            if node.attr not in importlib.import_module(room).__all__:
                yield f"{room}:{node.attr}"
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            match = re.fullmatch(r"(roboaccord\.\w+)(\.[\w.]+)?(:\w+)?", node.value)
            if match and importlib.util.find_spec(match[1]) and (match[2] or match[3]):
                listed = [] if match[2] else importlib.import_module(match[1]).__all__
                if not match[3] or match[3][1:] not in listed:
                    yield node.value


def test_others_import_from_doors_alone() -> None:
    """Robots, nodes, examples and pages need nothing that a stranger's may not use."""
    found = {name: [*beside_the_doors(text)] for name, text in sources()}
    assert len(found) > 200
    assert not {name: names for name, names in found.items() if names}


MOST = 120  # names of the core that the five robots need; a newcomer learns no more


def test_robots_import_the_names_that_the_guide_lists() -> None:
    """All of them together; a room that is imported by its name counts as one."""
    table = re.split("^## ", (ROOT / "docs/new_robot.md").read_text("utf-8"), flags=re.MULTILINE)
    (rows,) = (text for text in table if text.startswith("What the robots import"))
    listed = {
        (line.split("|")[1].strip(" `"), name)
        for line in rows.splitlines()
        if line.startswith("| `roboaccord")
        for name in re.findall(r"`(\w+)`", line.split("|")[2])
    }
    imported = {
        (node.module, name.name)
        for robot in ("snake", "monkeybot", "packbot", "voxel_sphere", "roller_sphere")
        for path in (ROOT / "src" / robot / robot).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom) and f"{node.module}.".startswith("roboaccord.")
        for name in node.names
    }
    assert imported == listed
    assert len(listed) <= MOST


def test_what_goes_beside_a_door_is_found() -> None:
    """By module, by a name that is not listed, in a string."""
    for text in (
        "from roboaccord.run.loop import simulate",
        "from roboaccord.run import nothing",
        "from roboaccord import bag\nbag.nothing",
        "import roboaccord.run.loop",
        "HOME = 'roboaccord.run.loop:simulate'",
    ):
        assert [*beside_the_doors(text)], text
    assert not [*beside_the_doors("from roboaccord.run import make_simulator, loop")]
    assert not [*beside_the_doors("from roboaccord import bag as bags\nbags.BagWriter")]


def rooms() -> list[str]:
    """Return the rooms of the core that list names."""
    found = (
        path.parent.name for path in (ROOT / "src/roboaccord/roboaccord").glob("*/__init__.py")
    )
    return sorted(f"roboaccord.{name}" for name in found if name not in ("robots", "testing"))


@pytest.mark.parametrize("room", rooms())
def test_a_door_has_what_it_lists(room: str) -> None:
    """Whatever was imported before: a module of that name hides none."""
    module = importlib.import_module(room)
    assert module.__all__
    stub = Path(f"{module.__file__}i").read_text("utf-8")
    for name in module.__all__:
        if importlib.util.find_spec(f"{room}.{name}"):
            importlib.import_module(f"{room}.{name}")
        meant = f"from . import {name} as {name}" in stub
        assert inspect.ismodule(getattr(module, name)) == meant, f"{room}.{name}"


def test_doors_import_nothing() -> None:
    """All rooms together load no library: names are imported when they are asked for."""
    code = f"import sys, {', '.join(rooms())}; print(*sys.modules)"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    heavy = {"numba", "pydantic", "yaml", "rich", "matplotlib", "scipy", "joblib", "mujoco"}
    assert not heavy & {*done.stdout.split()}


@pytest.mark.parametrize("name", ["run", "crosscheck"])
def test_a_function_is_no_folder_of_its_name(name: str) -> None:
    """Whichever was imported first, and with the help of the function."""
    importlib.import_module(f"roboaccord.{name}")
    assert inspect.isfunction(getattr(ra, name))
    assert pydoc.render_doc(getattr(ra, name), "%s", pydoc.plaintext).startswith(
        f"function {name} in module roboaccord.door."
    )


def test_a_run_is_that_of_the_loop(run: ra.Run) -> None:
    """Settings reach the scenario, and the motion is that of the loop without a bag."""
    keys = [f"{key}={value}" for key, value in SHORT.items()]
    setup = ra.Setup.of(ra.load_scenario("snake", "snake", "serpenoid", keys))
    motion = ra.simulate(
        simulator=ra.make_simulator(setup), controller=ra.make_controller(setup),
        initial=setup.initial, duration=0.2, control_period=setup.scenario.control_period,
        seed=setup.scenario.seed,
    )  # fmt: skip
    assert run.trajectory.sha256() == motion.sha256() == run.to_json()["trajectory_sha256"]
    with pytest.raises(ra.AccordError, match=r"unknown key friction\.mu"):
        ra.run("snake", "serpenoid", settings={"friction.mu": 1})


def test_a_run_draws_its_signals(run: ra.Run, tmp_path: Path) -> None:
    """The curve of a joint has its samples; a file is written; a wrong name is refused."""
    (axes,) = run.plot("q/joint_01", out=tmp_path / "q.svg").axes
    (line,) = axes.lines
    assert np.array_equal(line.get_xydata()[:, 1], run.trajectory.q[:, 0])
    assert axes.get_ylabel() == "joint position [rad]"
    assert "<svg" in (tmp_path / "q.svg").read_text()
    assert [a.get_ylabel() for a in ra.read_bag(run).figure("effort/*", "base/x").axes] == [
        "joint effort [N m]", "x of base_link [m]",
    ]  # fmt: skip
    with pytest.raises(ra.AccordError, match=r"no run and no signal q/joint_1"):
        run.figure("q/joint_1")


def test_keywords_are_settings_where_they_are_plain(run: ra.Run) -> None:
    """Keys without a section; another one is told how it is written."""
    setup = ra.setup_of("snake", "serpenoid", {"friction.mu_along": 0.5}, duration=0.2, seed=3)
    assert (setup.scenario.duration, setup.scenario.seed) == (0.2, 3)
    assert setup.scenario.friction["mu_along"] == 0.5
    for function in (ra.run, ra.crosscheck, ra.setup_of):
        with pytest.raises(ra.AccordError, match=r"settings=\{'SECTION.mu_along': 0.5\}$"):
            function("snake", "serpenoid", mu_along=0.5)  # type: ignore[call-arg]
    with pytest.raises(ra.AccordError, match="a setup is complete"):
        ra.run(setup, duration=5)
    assert ra.crosscheck(run, duration=0.1).ok


class Still:
    """Gives no efforts, and counts."""

    def __init__(self, setup: ra.Setup) -> None:
        self.effort, self.count = np.zeros(len(setup.joints)), 0

    def reset(self, seed: int) -> None:
        self.count = 0

    def update(self, state: ra.RobotState, target: ra.Target | None) -> ra.Command:
        self.count += 1
        return ra.Command(self.effort)


def test_a_controller_is_a_class_an_object_or_a_path(tmp_path: Path) -> None:
    """All give the same motion; bags state the name and the hash, and comparisons show them."""
    setup = ra.setup_of("snake", "serpenoid", duration=0.02)
    still, name = Still(setup), f"{__name__}:Still"
    runs = [
        ra.run(setup, controller=controller, out=tmp_path / str(i))
        for i, controller in enumerate((Still, still, name))
    ]
    assert still.count == 20
    assert len({run.trajectory.sha256() for run in runs}) == 1
    digest = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()
    assert {ra.read_bag(run).controller for run in runs} == {f"{name} sha256:{digest}"}
    own = ra.run(setup, out=tmp_path / "own")
    assert ra.read_bag(own).controller == ""
    (change,) = ra.compare(own, runs[0]).changes
    assert (change.key, change.values) == ("controller", ["–", f"{name} sha256:{digest}"])
    with pytest.raises(ra.AccordError, match="has no reset"):
        ra.make_controller(setup, lambda setup: tmp_path)  # type: ignore[arg-type,return-value]


class Wave(Still):
    """A controller whose arguments have names that the scenario's has, too."""

    def __init__(self, setup: ra.Setup, frequency: float, amplitude: float = 0.3) -> None:
        super().__init__(setup)
        self.frequency, self.amplitude = frequency, amplitude


def test_a_users_controller_keeps_its_defaults() -> None:
    """The user's settings count, then defaults, and then the scenario's keys; of its own class all.

    Without `given`, what the scenario has is from a file.
    """
    given = ra.setup_of("snake", "serpenoid", {"controller.amplitude": 0.2}).at_step(5e-4)
    own = type(ra.make_controller(given))
    derived = type("Derived", (own,), {})
    for setup, amplitude in (given, 0.2), (replace(given, given=()), 0.3):
        wave: Any = ra.make_controller(setup, Wave)
        assert (wave.frequency, wave.amplitude) == (1.0, amplitude)
        theirs: Any = ra.make_controller(setup, derived)
        assert theirs.amplitude == 0.2


def test_a_folder_on_the_search_path_hides_no_controller(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Folders beside packages that are installed in place are on it, such as `models`."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "beside" / "own_models").mkdir(parents=True)
    monkeypatch.syspath_prepend(str(tmp_path / "beside"))
    Path("own_models.py").write_text("from test_door import Still as Own\n", encoding="utf-8")
    monkeypatch.setitem(sys.modules, "test_door", sys.modules[__name__])
    setup = ra.setup_of("snake", "serpenoid", duration=0.02)
    assert isinstance(ra.make_controller(setup, "own_models:Own"), Still)


def test_results_are_arrays_and_tables(run: ra.Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of what is drawn: of runs, comparisons and reports; figures are typed."""
    assert run.metrics["speed"] == run.to_json()["metrics"]["speed"]
    time, angle = run.arrays("q/joint_01")["q/joint_01"]
    assert np.array_equal(time, run.trajectory.time)
    assert np.array_equal(angle, run.trajectory.q[:, 0])
    assert len(run.arrays()) == sum(len(axes.lines) for axes in run.figure().axes)
    assert len(ra.compare(run, run).arrays("q/joint_01")) == 2
    monkeypatch.setattr("roboaccord.contract.results.find_spec", lambda name: None)
    with pytest.raises(ra.AccordError, match="needs pandas: pip install pandas"):
        run.to_pandas()


def test_a_run_is_a_table_of_pandas(run: ra.Run) -> None:
    """Joints and base by time, or the signals that are named."""
    pytest.importorskip("pandas", reason="pandas is not installed")
    frame = run.to_pandas()
    assert np.array_equal(frame["joint_02.qd"], run.trajectory.qd[:, 1])
    assert np.array_equal(frame.index, run.trajectory.time) and frame.index.name == "time"
    assert "base.x" in frame and "com.x" not in frame
    assert [*run.to_pandas("com.speed")] == ["com.speed"]


def test_recorded_runs_are_read_compared_and_checked(run: ra.Run) -> None:
    """The same run differs by nothing; of the reference itself no step is off."""
    bag = ra.read_bag(run)
    assert bag.trajectory.sha256() == bag.to_json()["sha256"] == run.trajectory.sha256()
    found = ra.compare(run, run.request.bag, signals=["q/*"])
    assert found.verdict == "pass"
    assert {each.max for each in found.pairs[0].signals.values()} == {0.0}
    checked = ra.crosscheck(run)
    assert isinstance(checked, ra.Report) and checked.of_run
    assert checked.ok and checked.step.compared == len(bag.trajectory) - 1
    assert checked.step.max < 1e-9


def test_a_crosscheck_has_verdict_page_and_figures(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Accelerations agree to round-off; files are those of the command."""
    caplog.set_level(logging.INFO, "roboaccord")
    report = ra.crosscheck(
        "snake", "serpenoid", engines=["mujoco"], settings=SHORT, refine=2, out=tmp_path
    )
    assert isinstance(report, ra.Report)
    assert report.levels.acceleration["mujoco"].outcome == "within"
    assert json.loads((tmp_path / "summary.json").read_text())["verdict"] == report.verdict
    assert "<html" in (tmp_path / "report.html").read_text()[:200]
    steps = report.checks["trajectory"]["mujoco"]
    curves = report.figure("convergence").axes[0].containers
    (curve,) = [c for c in curves if str(c.get_label()).startswith("mujoco")]
    drawn = curve.lines[0].get_xydata()
    in_ms = 1e3 * np.array(steps.dt)
    assert drawn == pytest.approx(np.transpose([in_ms, steps.error]), rel=1e-5)
    assert np.array_equal(report.arrays("convergence")[str(curve.get_label())], drawn.T)
    with pytest.raises(ra.AccordError, match="unknown figure pathh"):
        report.figure("pathh")


def test_a_result_shows_what_the_command_prints(run: ra.Run) -> None:
    """As text, and in a notebook as HTML with nothing that could be markup of others."""
    assert str(run).startswith("ran") and "\nwork " in str(run) and "\x1b" not in str(run)
    assert "figures, A -> B" in str(ra.compare(run, run))
    html = run._repr_html_()
    assert html.startswith("<pre")
    assert "snake serpenoid in reference over direct" in html
    assert str(run.request.bag) in html.replace("\n", "")
    assert "compared" in ra.crosscheck(run)._repr_html_()
    assert run._repr_mimebundle_(include=None, exclude=None) == {"text/plain": str(run)}
    assert run.plot()._repr_png_().startswith(b"\x89PNG")  # Matplotlib's own has no picture there


@pytest.mark.slow
@pytest.mark.thorough
def test_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The code of docs/python.md, one block after the other."""
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert len(blocks) > 6
    names: dict[str, object] = {}
    for block in blocks:
        if any(lacking("functions", name) for name in re.findall(r"\bra\.(\w+)\(", block)):
            continue  # of a package that is not installed
        if "make_env" in block and not importlib.util.find_spec("gymnasium"):
            continue
        exec(compile(block, "docs/python.md", "exec"), names)  # noqa: S102 - the page's own
    assert {path.suffix for path in tmp_path.iterdir()} >= {".svg", ".gif"}
    functions = "run crosscheck parity compare sweep read_bag view make_env setup_of".split()
    assert all(f"ra.{name}(" in page for name in functions)


def test_type_checkers_find_the_packages_where_they_are_installed_in_place() -> None:
    """By a path, and not by a finder of setuptools, which they cannot run."""
    for package in PACKAGES:
        text = (ROOT / "src" / package / "setup.cfg").read_text(encoding="utf-8")
        assert "package_dir =\n    = .\n" in text and "py.typed" in text, package


def test_every_report_has_a_verdict() -> None:
    """By the same name, whatever was checked."""
    reports = [ra.Report, ra.Comparison]
    reports += [getattr(ra, name) for name in ("Parity", "Pair") if not lacking("functions", name)]
    assert all(hasattr(each, "verdict") or "verdict" in each.__annotations__ for each in reports)

"""The command `accord bench`, its files, and the checker for other people's series."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import roboaccord_bench
from roboaccord.contract import AccordError
from roboaccord_bench import bench
from roboaccord_bench.command import choose_engines, parse_steps
from roboaccord_bench.found import load_problem

CHECK = Path(roboaccord_bench.__file__).with_name("check.py")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of the stopping box in DART and MuJoCo, as the command leaves them."""
    folder = tmp_path_factory.mktemp("bench") / "out"
    command = [sys.executable, "-m", "roboaccord.cli.main", "bench", "stopping"]
    command += ["--engines", "dart,mujoco", "--out", str(folder), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    (folder / "stdout.json").write_text(done.stdout)
    return folder


def test_json_has_the_keys_that_scripts_read(folder: Path) -> None:
    """Names of the interface, and the constants of a pyramid and a box at 45 degrees."""
    problems = json.loads((folder / "stdout.json").read_text())["problems"]
    assert {"name", "exact", "unit", "source", "results"} <= {*problems[-1]}
    results = {(each["engine"], each["setting"]): each for each in problems[-1]["results"]}
    keys = "engine version options step error outcome order constant law cpu certificate"
    for result in results.values():
        assert {*keys.split()} <= {*result}
        names = "signorini", "cone", "dissipation", "momentum", "energy"
        assert tuple(result["certificate"]) == names
    pyramid, box = results["mujoco", "default"], results["dart", "default"]
    assert (pyramid["law"], box["law"]) == ("pyramid", "box")
    assert pyramid["constant"] == pytest.approx(2.0**0.5, rel=2e-3)
    assert box["constant"] == pytest.approx(0.5**0.5, rel=2e-3)
    for name in ("dart", "mujoco"):
        assert results[name, "expert"]["outcome"] == "order"
        assert results[name, "expert"]["order"] == pytest.approx(1.0, abs=0.2)


def test_an_interrupted_bench_continues(folder: Path, tmp_path: Path) -> None:
    """Results in the file are not measured again; a missing one is."""
    lines = (folder / bench.RESULTS).read_text().splitlines()
    marked = [line.replace('"law": "pyramid"', '"law": "kept"') for line in lines]
    cut = marked[0][: len(marked[0]) // 2]  # by a kill
    (tmp_path / bench.RESULTS).write_text("\n".join([*marked[1:], cut]))
    data = bench.run(bench.plan(["stopping"], ["dart", "mujoco"]), tmp_path)
    laws = [each["law"] for entry in data["problems"] for each in entry["results"]]
    assert "kept" in laws
    assert len((tmp_path / bench.RESULTS).read_text().splitlines()) == len(lines)
    (tmp_path / bench.RESULTS).write_text("mine\n")
    with pytest.raises(AccordError, match="has no results of a bench"):
        bench.run(bench.plan(["stopping"], ["dart"]), tmp_path)
    assert (tmp_path / bench.RESULTS).read_text() == "mine\n"


def test_the_checker_tells_a_right_series_from_a_wrong_one(tmp_path: Path) -> None:
    """Semi-implicit Euler converges with order 1; with mu 2 % too large a constant is left."""

    def write(name: str, step: float, mu: float) -> str:
        """Integrate a sliding box by semi-implicit Euler, and write its series."""
        speed, distance, rows = 2.0, 0.0, ["t,d", "0,0"]
        for number in range(round(0.8 / step)):
            speed = max(speed - mu * 9.81 * step, 0.0)
            distance += speed * step
            rows.append(f"{(number + 1) * step!r},{distance!r}")
        (tmp_path / name).write_text("\n".join(rows))
        return str(tmp_path / name)

    exact = tmp_path / "exact.csv"
    problem = load_problem("stopping")
    rows = [f"{0.01 * n!r},{problem.series(0.01 * n, heading=0.0)[0]!r}" for n in range(81)]
    exact.write_text("\n".join(["t,d", *rows]))
    for mu, status, word in ((0.5, 0, "order 1."), (0.51, 1, "constant: -")):
        mine = [write(f"{mu}_{step}.csv", step, mu) for step in bench.STEPS]
        command = [sys.executable, "-I", str(CHECK), str(exact), *mine]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == status, done.stdout
        assert word in done.stdout


def test_wrong_names_and_steps_are_refused_in_one_line() -> None:
    """An unknown problem or engine, and steps that are not halved."""
    with pytest.raises(AccordError, match=r"unknown problem stoping; did you mean stopping"):
        load_problem("stoping")
    with pytest.raises(AccordError, match="unknown engine"):
        choose_engines(["mujocco"])
    for text in ("0.001", "0.002,0.001,0.0004", "x"):
        with pytest.raises(AccordError):
            parse_steps(text)

"""What `make bounds` runs with kernels interpreted: plain Python refuses an index past an array."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import numpy as np
import pytest
from roboaccord.bag.reader import read_run
from roboaccord.cli.main import run
from roboaccord.numerics.jit import COMPILES
from workspace import ROOT, accord, succeed

interpreted = pytest.mark.skipif(COMPILES, reason="make bounds runs it, with kernels interpreted")

NOT_INTERPRETED = {
    "roboaccord/numerics/native.py": "pointers are LLVM's",
    "roboaccord/engines/compiled.py": "of pointers; interpreted, the laws are NumPy's",
    "monkeybot/model/simd.py": "vectors of eight floats are LLVM's",
    "monkeybot/model/ensemble.py": "of vectors; interpreted, gaits run one by one (`run_many`)",
    "monkeybot/model/series.py": "of vectors, for ensemble.py",
}
"""Modules with kernels that only numba can run, and what happens where it does not."""

RUNS = {
    "snake": "serpenoid", "monkeybot": "flight", "packbot": "collapse",
    "roller_sphere": "dribble", "voxel_sphere": "bowl",
}  # fmt: skip
ROUND_OFF = 1e-12  # 7e-15 was the most; products rounded to float32 were off by 2e-9
BODY = (
    '<inertial><origin xyz="0.05 0 -0.2"/><mass value="1"/>'
    '<inertia ixx="0.1" iyy="0.2" izz="0.15" ixy="0" ixz="0" iyz="0"/></inertial>'
)


def chain(n: int) -> str:
    """Return a URDF of n joints, of which the second slides; they start between their limits."""
    links = "".join(f'<link name="link{i}">{BODY}</link>' for i in range(1, n + 1))
    joints = "".join(
        f'<joint name="joint{i}" type="{"prismatic" if i == 2 else "revolute"}">'
        f'<parent link="{f"link{i - 1}" if i > 1 else "base_link"}"/><child link="link{i}"/>'
        f'<origin xyz="0 0.1 -0.4"/><axis xyz="{i % 2} 1 0"/>'
        '<limit lower="0.2" upper="1.2" effort="9" velocity="9"/></joint>'
        for i in range(1, n + 1)
    )
    body = f'<link name="base_link">{BODY}</link>'
    return f'<robot name="chain{n}">{body}{links}{joints}</robot>'


def intrinsics(path: Path) -> set[str]:
    """Return the names of intrinsics that a module imports."""
    homes = {"numba.extending", "monkeybot.model.simd", "roboaccord.numerics.native"}
    text = path.read_text("utf-8")
    if not any(home.rpartition(".")[2] in text for home in homes):
        return set()
    imports = (node for node in ast.parse(text).body if isinstance(node, ast.ImportFrom))
    return {alias.name for node in imports for alias in node.names if node.module in homes}


def test_these_modules_cannot_be_interpreted_and_no_others() -> None:
    """A new one is a decision: no check of indices sees what an intrinsic reads and writes."""
    files = [file for file in ROOT.glob("src/*/*/**/*.py") if "test" not in file.parts]
    found = {str(Path(*file.parts[-3:])) for file in files if intrinsics(file)}
    assert found == set(NOT_INTERPRETED)


@interpreted
@pytest.mark.slow
@pytest.mark.parametrize("base", ["fixed", "free"])
@pytest.mark.parametrize("n", range(4))
def test_engines_move_files_of_few_joints_alike(
    n: int, base: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("chain.urdf").write_text(chain(n))
    words = ["crosscheck", "chain.urdf", "--base", base, "--set", "duration=0.01"]
    moves = n > 0 or base == "free"
    assert run([*words, "--out", "out"]) == int(not moves)
    verdict = json.loads(Path("out/summary.json").read_text())["verdict"]
    assert verdict == ("pass" if moves else "undecided")


@interpreted
@pytest.mark.slow
@pytest.mark.parametrize(("robot", "scenario"), RUNS.items())
def test_a_robot_moves_as_with_compiled_kernels(robot: str, scenario: str, tmp_path: Path) -> None:
    """To round-off: sines may differ in the last place."""
    words = ["run", robot, scenario, "--transport", "direct", "--set", "duration=0.01", "--out"]
    folders = [str(tmp_path / name) for name in ("interpreted", "compiled")]
    assert run([*words, folders[0]]) == 0
    succeed(accord(*words, folders[1], cwd=tmp_path, NUMBA_DISABLE_JIT="0"))
    one, other = (read_run(Path(folder, "bag")).trajectory.rows() for folder in folders)
    np.testing.assert_allclose(one, other, rtol=ROUND_OFF, atol=ROUND_OFF)

"""`make mutation` on two small packages: what it has to run again, and when it reports."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest
from workspace import ROOT, call

CODE = "def grown(x):\n    return 2 * x + 1\n"
TEST = "from {0}.growth import grown\n\n\ndef test_grown():\n    assert grown(3) == 7\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Return a repository of two packages, the first with two test modules, and of the tool."""
    for name in ("apple", "pear"):
        package = tmp_path / "src" / name
        (package / name).mkdir(parents=True)
        (package / "test").mkdir()
        (package / "setup.py").touch()
        (package / name / "growth.py").write_text(CODE)
        (package / "test" / f"test_{name}.py").write_text(TEST.format(name))
    (tmp_path / "src/apple/test/test_longer.py").write_text(TEST.format("apple") * 2)
    shutil.copytree(ROOT / "benchmarks/mutation", tmp_path / "benchmarks/mutation")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    call(["git", "init", "--quiet"], tmp_path)
    return tmp_path


def mutation(tree: Path, seed: int) -> list[str]:
    """Return in their order the places whose tests were run, and results with their packages."""
    words = ["benchmarks/mutation", "--workers", "1", "--seed", str(seed)]
    done = call(["bash", "-c", 'exec "$@" 2>&1', "bash", sys.executable, *words], tree)
    if "nobody may not run" in done.stdout:
        pytest.skip(done.stdout)
    found = re.findall(r"running (.* of) src/(\w+)/|^(\w+): src/(\w+)/", done.stdout, re.MULTILINE)
    assert done.returncode == 0 and found, done.stdout
    return [" ".join(filter(None, words)) for words in found]


@pytest.mark.slow
def test_results_come_by_package_and_edits_rerun_what_they_concern(tree: Path) -> None:
    """The first error is judged before the second package's tests are run, and maps are kept."""
    pear = ["1 test module of pear", "killed pear"]
    assert mutation(tree, 0) == [*pear, "2 test modules of apple", "killed apple"]
    assert mutation(tree, 1) == ["killed pear", "killed apple"]
    (tree / "src/pear/pear/growth.py").write_text(CODE + "# in a year\n")
    assert mutation(tree, 2) == ["killed apple", *pear]
    (tree / "src/apple/test/test_longer.py").write_text(TEST.format("apple"))
    assert "1 test module of apple" in mutation(tree, 3)

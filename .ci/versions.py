"""Run the quick tests with the lowest, or the newest, versions that setup.cfg allows."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXTRAS = {
    "packbot": "mesh,reference,test",
    "roboaccord": "all,test",
    "roboaccord_files": "logs,page,parity,test",
    "roboaccord_view": "ros,test",
    "voxel_sphere": "mesh,test",
}
PACKAGES = [
    f"{path.parent}[{EXTRAS.get(path.parent.name, 'test')}]"
    for path in sorted(ROOT.glob("src/*/setup.py"))
]


def main(which: str) -> None:
    """Install in a fresh environment, and test."""
    resolution = {"lowest": "lowest-direct", "newest": "highest"}[which]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-P", "-m", "venv", folder], check=True)
        python = f"{folder}/bin/python"
        subprocess.run([python, "-P", "-m", "pip", "install", "--quiet", "uv"], check=True)
        install = [f"{folder}/bin/uv", "pip", "install", "--quiet", "--python", python]
        local = [word for package in PACKAGES for word in ("-e", package)]
        chosen = ["--resolution", resolution, *local, "pytest-xdist>=3.6"]
        subprocess.run([*install, *chosen], check=True)
        tests = ["-m", "pytest", "-q", "-n", "2", "-m", "not slow and not thorough"]
        subprocess.run([python, *tests], cwd=ROOT, check=True)


if __name__ == "__main__":
    main(sys.argv[1])

"""Build wheels and sdists of all packages, check them, and use the wheels in bare environments."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = sorted(path.parent for path in ROOT.glob("src/*/setup.py"))
ARM = ROOT / "src/roboaccord/test/data/urdf/TwoDofs.urdf"


def run(command: str, folder: Path, **environment: str) -> str:
    """Run a command in a bare environment, and return its output; a failure raises."""
    bare = {name: os.environ[name] for name in ("HOME", "LANG", "TMPDIR") if name in os.environ}
    path = f"{folder / 'bin'}:/usr/bin:/bin"
    print("$", command, flush=True)
    done = subprocess.run(
        shlex.split(command), cwd=folder, stdout=subprocess.PIPE, text=True, check=True,
        env={**bare, "PATH": path, **environment},
    )  # fmt: skip
    return done.stdout


def bare(folder: Path, *requirements: str, most: float = 1e3) -> Path:
    """Make an environment with what is required, and print its size, of at most so many MB."""
    subprocess.run([sys.executable, "-P", "-m", "venv", folder], check=True)
    run(f"{folder}/bin/pip install --quiet {shlex.join(requirements)}", folder)
    size = sum(512 * path.lstat().st_blocks for path in folder.rglob("*")) / 1e6
    print(f"{folder.name}: {size:.0f} MB with {' '.join(map(str, requirements))}", flush=True)
    assert size < most, f"more than {most:g} MB"
    return folder


def main() -> None:
    """Build, check and use."""
    with tempfile.TemporaryDirectory() as name:
        top = Path(name)
        tools = bare(top / "tools", "build", "twine", "setuptools<80", "wheel")
        for package in PACKAGES:
            out = f"--outdir {top}/dist {package}"
            run(f"python -m build --no-isolation {out}", tools)
        made = sorted((top / "dist").iterdir())
        run(f"twine check --strict {shlex.join(map(str, made))}", tools)
        wheels = {path.name.partition("-")[0]: path for path in made if path.suffix == ".whl"}

        light = bare(
            top / "light",
            str(wheels["roboaccord"]),
            f"{wheels['roboaccord_files']}[parity]",
            most=260,
        )
        assert json.loads(run(f"accord parity {ARM} --json", light))["verdict"] == "pass"

        middle = bare(top / "reference", f"{wheels['roboaccord']}[reference]", most=550)
        run(f"pip install --quiet {wheels['roboaccord']}[bag] mujoco", middle)
        found = json.loads(run(f"accord crosscheck {ARM} --json --out checked", middle))
        assert found["verdict"] == "pass"

        snake = bare(top / "snake", str(wheels["roboaccord"]), str(wheels["roboaccord_snake"]))
        done = json.loads(run("accord run snake serpenoid --json --out ran", snake))
        print("trajectory", done["trajectory_sha256"])
        cells = json.loads((ROOT / "examples/first_steps.ipynb").read_text())["cells"]
        code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
        (snake / "notebook.py").write_text("\n\n".join(code), encoding="utf-8")
        run("pip install --quiet mujoco", snake)
        run("python notebook.py", snake)
        run("accord new-robot machine --dir .", snake)
        run("pip install --quiet --no-deps ./machine", snake)
        run("accord run machine swing", snake)
        run(
            f"pip install --quiet {wheels['roboaccord_view']} {wheels['roboaccord_studies']}", snake
        )
        run("accord view ran/bag --gif snake.gif --fps 2", snake)
        assert (snake / "snake.gif").stat().st_size
        assert json.loads(run("accord snake gait --duration 2 --json", snake))


if __name__ == "__main__":
    main()

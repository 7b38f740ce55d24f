"""Make the films of docs/images anew, by the commands of docs/images/films.yaml (`make films`).

A film that has been made since the renderer or its commands last changed is left, and so is one
that needs Gazebo where there is none. Each has a folder in runs/films.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import roboaccord_view
import yaml
from roboaccord.engines import Missing, spec

IMAGES, OUT = Path("docs/images"), Path("runs/films")


def make(name: str, commands: str) -> int:
    """Run the commands of a film, put it into docs/images, and return its size [bytes]."""
    folder = OUT / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    # Commands find `accord` as in an activated environment, and models as launch files do.
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    models = {"GZ_SIM_RESOURCE_PATH": f"{Path('models').absolute()}"}
    environment = {**os.environ, **models, "PATH": path, "VIRTUAL_ENV": sys.prefix}
    subprocess.run(["bash", "-euc", commands], cwd=folder, env=environment, check=True)
    film = folder / f"{name}.gif"
    shutil.copyfile(film, IMAGES / film.name)
    return film.stat().st_size


def has_gazebo() -> bool:
    """Return whether the engine `gz` can be used here."""
    return not isinstance(spec("gz").look(), Missing)


def main(words: Sequence[str] | None = None) -> None:
    """Make the films that are asked for, or all."""
    films = yaml.safe_load((IMAGES / "films.yaml").read_text(encoding="utf-8"))
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("films", nargs="*", metavar="FILM", help="all by default")
    parser.add_argument("--force", action="store_true", help="make films that are new, too")
    asked = parser.parse_args(words)
    sources = Path(roboaccord_view.__file__).parent.rglob("*.py")
    changed = max(path.stat().st_mtime for path in sources)
    for name in asked.films or films:
        film = OUT / name / f"{name}.gif"
        if film.is_file() and film.stat().st_mtime > changed and not asked.force:
            print(f"{name}: newer than the renderer")
        elif re.search(r"\bgz\b", films[name]) and not has_gazebo():
            print(f"{name}: left as it was, for Gazebo is not installed")
        else:
            print(f"{name}: {make(name, films[name]) / 1000:.0f} kB", flush=True)


if __name__ == "__main__":
    main()

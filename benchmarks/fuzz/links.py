"""Planted links: whatever lies under a name that a command writes, nothing else changes by it.

Which names those are is learnt from a run, by what Python opens, makes or renames in it; one with
the number of the process can be known beforehand, too.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import shutil
import sys
from pathlib import Path
from random import Random
from typing import Any

from roboaccord.cli.main import run

SNAKE = "snake serpenoid --set duration=0.02"
COMMANDS = (
    f"run {SNAKE} --transport direct --out o",
    f"sweep {SNAKE} --seeds 2 --out o",
    "crosscheck snake serpenoid --engines reference,mujoco --refine 4 --set crosscheck.states=2 "
    "--set crosscheck.duration=0.02 --out o",
    "parity {seeds}/arm.urdf --engines mujoco --page o/x.html --junit o/x.xml --repair o/x.urdf",
    "parity o/in --engines mujoco --repair o/r",
    "view {seeds}/run/bag --gif o/x.gif --size 64x64 --fps 2",
    "export {seeds}/run/bag --csv o/x.csv --npz o/x.npz --mat o/x.mat",
    "recover o/bag",
    "new-robot pendel --dir o",
    "snake shapes --out o/x.svg",
    "packbot look --shapes --out o",
    "packbot look --hulls {seeds}/meshes --out o",
    "monkeybot landscape --w1 0.5 1.5 4 --w2 11 12 4 --out o",
    "monkeybot continue --along period --from 0.94 --to 0.946 --out o/x.csv",
    "voxel-sphere make bowl --n 20 --out o",
    "voxel-sphere roll {seeds}/terrain --omega 1 1 --time 0.01 --out o",
    "voxel-sphere mesh {seeds}/terrain --out o/x.stl --heights o/x.npy",
    "voxel-sphere world {seeds}/terrain --out o",
)
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
OWN = ("o/notes.txt", "o/.writable")  # of the user; no command writes them
PID = "PID"
RANDOM = re.compile(r"\.[0-9a-f]{16}\b")  # nobody can know these


def learn(seeds: Path) -> None:
    """Run each command, and keep its results and the names that it wrote."""
    for number, words in enumerate(COMMANDS):
        folder = seeds / "links" / str(number)
        folder.mkdir(parents=True)
        pid = os.fork()
        if not pid:
            os.chdir(folder)
            os._exit(_record(words, seeds))
        if os.waitpid(pid, 0)[1]:
            raise RuntimeError(f"accord {words} failed")


def plant(rng: Random, seeds: Path) -> tuple[list[str], str]:
    """Plant links and other things in the present folder; return a command, and what to keep."""
    number = rng.randrange(len(COMMANDS))
    clean = seeds / "links" / str(number)
    names = json.loads((clean / "names.json").read_text())
    words = shlex.split(COMMANDS[number].format(seeds=seeds))
    _prepare(words[0], seeds)
    if rng.random() < 0.5:  # the command was here before
        shutil.copytree(clean / "o", "o", copy_function=shutil.copyfile, dirs_exist_ok=True)
    if words[-2] == "--out" and not Path(words[-1]).suffix and rng.random() < 0.6:
        words.append("--force")
    if "--force" in words or "o" not in words:
        Path("o").mkdir(exist_ok=True)
        for name in OWN:
            Path(name).write_text("mine")
    Path("outside/folder").mkdir(parents=True)
    for name in rng.sample(names, min(len(names), rng.choice((1, 1, 2, 5)))):
        _put(rng, Path(name.replace(PID, str(os.getpid()))), clean)
    return words, state(Path())


def state(folder: Path) -> str:
    """Return a digest of what no command may change: what is outside, and files of the user."""
    found = hashlib.sha256()
    for path in sorted([*(folder / "outside").rglob("*"), *(folder / name for name in OWN)]):
        link = path.readlink() if path.is_symlink() else ""
        data = path.read_bytes() if path.is_file() and not link else b""
        found.update(f"{path.relative_to(folder)} {link} {path.is_dir()} {data!r}\n".encode())
    return found.hexdigest()


def _record(words: str, seeds: Path) -> int:
    """Run a command in the present folder, and write down the names that it uses there."""
    top, names = Path().absolute(), set[str]()

    def note(event: str, given: tuple[Any, ...]) -> None:
        if event in ("os.mkdir", "os.rename") or (event == "open" and (given[2] or 0) & WRITING):
            for path in given[: 2 if event == "os.rename" else 1]:
                place = top / os.fsdecode(path) if isinstance(path, str | bytes | Path) else top
                if top in place.parents:
                    names.add(str(place.relative_to(top)).replace(str(os.getpid()), PID))

    _prepare(words.partition(" ")[0], seeds)
    sys.addaudithook(note)
    status = run(shlex.split(words.format(seeds=seeds)))
    for path in [Path(name) for name in names if Path(name).is_file()]:
        base = path.name
        names |= {str(path.with_name(f"{base}{e}")) for e in (".part", ".tmp", "~", f".{PID}")}
        names |= {str(path.with_name(f".{base}.tmp")), str(path.with_name(".writable"))}
    names -= {"o", "p", "o/r"}  # folders that the user names, and may be links of his
    known = sorted(name for name in names if not RANDOM.search(name))
    Path("names.json").write_text(json.dumps(known))
    return status


def _prepare(command: str, seeds: Path) -> None:
    Path("o").mkdir()
    if command == "recover":
        shutil.copytree(seeds / "run" / "bag", "o/bag", copy_function=shutil.copyfile)
        os.truncate("o/bag/bag.mcap", Path("o/bag/bag.mcap").stat().st_size - 100)
    if command == "parity":
        Path("o/in/sub").mkdir(parents=True)
        shutil.copyfile(seeds / "arm.urdf", "o/in/sub/arm.urdf")


def _put(rng: Random, path: Path, clean: Path) -> None:
    """Put something in the place of a name, which a command could take for its own."""
    if any(each.is_symlink() or each.is_file() for each in path.parents):
        return
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    precious = Path("outside") / f"precious{rng.randrange(1 << 30)}{path.suffix}"
    good = clean / path
    precious.write_bytes(good.read_bytes() if good.is_file() and rng.random() < 0.6 else b"")
    what = rng.choice(("link", "link", "nothing", "folder", "hard link", "fifo", "directory"))
    if what == "hard link":
        path.hardlink_to(precious)
    elif what == "fifo":
        os.mkfifo(path)
    elif what == "directory":
        path.mkdir()
    else:
        there = {"link": precious, "nothing": Path("outside/new"), "folder": Path("outside/folder")}
        path.symlink_to(there[what].absolute())

"""Cases: a file or an option that is changed, or built to do harm, and the command that gets it."""

from __future__ import annotations

import os
import shlex
import shutil
import sqlite3
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from inspect import Parameter, Signature, signature
from pathlib import Path
from random import Random
from typing import Any, get_args

import links
from hostile import BAG_BOMBS, PNG_BOMBS, XACRO_BOMBS, XML_BOMBS, YAML_BOMBS, tiff_bomb
from mutations import NUMBERS, TEXTS, WORDS, mutated
from roboaccord.cli.groups import COMMANDS
from roboaccord.cli.options import Cluster
from roboaccord.cli.parameters import options
from roboaccord.contract.plugins import entries
from roboaccord.scenario.setup import find_robot
from seeds import MESHED
from test_commands import CASES as GOOD
from test_commands import ROOT

SHORT = "--set duration=0.02 --set control_period=0.001 --set physics_step=0.001"
RUN = f"run {{}} --transport direct --json {SHORT}"
# Devices, folders and names that a path may have and no file should; 300 letters exceed the 255 of
# file systems.
PLACES = ("/dev/zero", "/dev/full", "/dev/stdin", "/proc/self/mem", "/", "..", "fifo", "folder",
          "missing", "a" * 300, "device", "loop", "text")  # fmt: skip
EVERY = GOOD | {"view": "made/run/bag --gif x.gif --size 64x64 --fps 2"}
NONE = ("nan", "x", "", "1e308", "-1e308", "99999999999999999999", "1e13")  # never accepted
EDGES = (*NONE, "-1", "0", "1", "2", "3", "0.5", "1e-300", "1e-9", "1e12", "-1e12", "inf", "-inf",
         "1000", "1000000", "1000001", "-1000000", "2147483648", "9223372036854775808")  # fmt: skip
# Commands whose good case takes seconds: only edge values, which end them.
SLOW = {
    "crosscheck", "parity", "sweep", "doctor", "check", "view", "teleop",
    "monkeybot basin", "monkeybot robust", "monkeybot lqr", "monkeybot continue", "monkeybot find",
    "monkeybot design", "monkeybot landscape", "monkeybot figures", "monkeybot gaits",
    "monkeybot stability", "packbot fall", "packbot plan", "packbot reach-target", "packbot look",
    "packbot detect", "packbot workspace", "packbot equilibria",
    "packbot figures", "packbot dynamics", "roller-sphere contact", "roller-sphere dribble-map",
    "roller-sphere figures", "roller-sphere survey", "snake gait", "snake optimise", "snake adapt",
    "snake figures", "voxel-sphere make", "monkeybot gait",
    "voxel-sphere mesh", "voxel-sphere world", "monkeybot stable",
}  # fmt: skip


@dataclass
class Case:
    """A command that is run in the present folder, and what must come of it.

    Args:
        kind: of file or option.
        words: of the command line.
        refused: whether the exit status must be 2.
        parameters: folder in the place of the snake's package, for its parameters.
        at_work: whether it may still work after a while, and then has to end at SIGTERM.
        outside: digest of what is outside, where links may lead, which must stay.
        accepted: whether the exit status must not be 2.
        script: whether it is the installed program that runs, as a user starts it.
        unread: part of the names of files that it must not open.
        in_force: options that it has to print as in force, if it is accepted.
        heard: seed of the messages that the nodes of a run hear; no command is run.
    """

    kind: str
    words: list[str]
    refused: bool = False
    parameters: str = ""
    at_work: bool = False
    outside: str = ""
    accepted: bool = False
    script: bool = False
    unread: str = ""
    in_force: list[str] = field(default_factory=list)
    heard: str = ""


Maker = Callable[[Random, Path], Case]


def _case(kind: str, words: str, **more: Any) -> Case:
    return Case(kind, shlex.split(words), **more)


def place(rng: Random, name: str, data: bytes, *, text: bool, waits: bool = True) -> str:
    """Write changed data, or put something else than a file in their place; return the name.

    Without `waits` that is no FIFO.
    """
    if rng.random() < 0.03:
        kinds = ("device", "fifo" if waits else "device", "folder", "loop", "missing")
        spoil(name, rng.choice(kinds))
        return name
    Path(name).write_bytes(mutated(data, rng, text=text))
    return name


def place_text(
    rng: Random, name: str, good: Path, bombs: Sequence[Callable[[], bytes]], share: float = 0.1
) -> None:
    """Place a text file: one of the bombs in a share of the draws, else a changed good one."""
    if rng.random() < share:
        Path(name).write_bytes(rng.choice(bombs)())
    else:
        place(rng, name, good.read_bytes(), text=True)


def spoil(name: str, what: str) -> None:
    """Put something that is no regular file at a place; nothing if it is to be missing."""
    if what == "device":
        Path(name).symlink_to("/dev/zero")
    elif what == "fifo":
        os.mkfifo(name)
    elif what == "folder":
        Path(name).mkdir()
    elif what == "loop":
        Path(name).symlink_to(name)


def scenario(rng: Random, seeds: Path) -> Case:
    """A scenario's YAML."""
    path = rng.choice(sorted((seeds / "scenarios").iterdir()))
    place_text(rng, "s.yaml", path, YAML_BOMBS)
    robot = path.stem
    words = f"scenario {robot} s.yaml --json", RUN.format(f"{robot} s.yaml --out o")
    return _case("scenario YAML", rng.choice(words))


def keys(rng: Random, seeds: Path) -> Case:
    """A key map's YAML."""
    place(rng, "k.yaml", (seeds / "keys.yaml").read_bytes(), text=True)
    return _case("key map YAML", "teleop snake --keys k.yaml --duration 0.01 --out o --json")


def parameters(rng: Random, seeds: Path) -> Case:
    """The YAML of a robot's parameters."""
    Path("package/config").mkdir(parents=True)
    good = (seeds / "parameters.yaml").read_bytes()
    place(rng, "package/config/parameters.yaml", good, text=True)
    return _case("parameter YAML", RUN.format("snake serpenoid --out o"), parameters="package")


def urdf(rng: Random, seeds: Path) -> Case:
    """A URDF."""
    place_text(rng, "a.urdf", seeds / "arm.urdf", XML_BOMBS)
    return _robot(rng, "URDF", "a.urdf")


def xacro(rng: Random, seeds: Path) -> Case:
    """A xacro file."""
    bombs = [text.encode for text in XACRO_BOMBS]
    place_text(rng, "a.urdf.xacro", seeds / "arm.urdf.xacro", bombs, share=0.2)
    return _robot(rng, "xacro", "a.urdf.xacro")


def _robot(rng: Random, kind: str, file: str) -> Case:
    engine = rng.choice(("reference", "reference", "mujoco", "dart"))
    words = [RUN.format(f"{file} --out o --engine {engine}")] * 3
    words += [f"packbot look --hulls {file} --out o --json", f"check {file} --json"]
    return _case(kind, rng.choice(words))


def mesh(rng: Random, seeds: Path) -> Case:
    """A mesh, alone or of a robot."""
    path = rng.choice(sorted((seeds / "meshes").iterdir()))
    Path("m").mkdir()
    text = path.suffix in (".obj", ".dae", ".off", ".ply") or path.stem == "text"
    name = place(rng, f"m/{path.name}", path.read_bytes(), text=text)
    if rng.random() < 0.5:
        return _case(f"mesh {path.suffix[1:]}", "packbot look --hulls m --out o --json")
    Path("a.urdf").write_text(MESHED.replace("MESH", name))
    kind = f"mesh {path.suffix[1:]}"
    return _case(kind, RUN.format(f"a.urdf --out o --engine {rng.choice(('mujoco', 'dart'))}"))


def bag(rng: Random, seeds: Path) -> Case:
    """A bag: its file, or the metadata beside it."""
    path = rng.choice(sorted((seeds / "bags").iterdir()))
    shutil.copytree(path, "b", copy_function=shutil.copyfile)
    files = sorted(Path("b").iterdir())
    target = rng.choice(files)
    data = target.read_bytes()
    kind = "metadata YAML" if target.suffix == ".yaml" else f"bag {path.name}"
    target.unlink()
    if rng.random() < 0.1:
        target.write_bytes(rng.choice(BAG_BOMBS)(target.name))
    else:
        place(rng, str(target), data, text=target.suffix == ".yaml")
    return _bag_case(rng, kind, seeds)


def _bag_case(rng: Random, kind: str, seeds: Path) -> Case:
    good = seeds / "run" / "bag"
    words = [f"compare {good} b --json"] * 4
    words += ["export b --csv o.csv --npz o.npz --mat o.mat --json"] * 2
    words += ["recover b --json", "recover b --json", "crosscheck b serpenoid --json"]
    words += ["view b --gif o.gif --size 64x64 --fps 2", "packbot detect b --json"]
    words += [RUN.format("snake serpenoid --out o --inputs b")]
    return _case(kind, rng.choice(words))


def payload(rng: Random, seeds: Path) -> Case:
    """Messages of a bag: CDR that no checksum covers."""
    shutil.copytree(seeds / "bags" / "sqlite3_none", "b", copy_function=shutil.copyfile)
    (file,) = Path("b").glob("*.db3")
    base = sqlite3.connect(file)
    rows = base.execute("SELECT id, data FROM messages").fetchall()
    topics = base.execute("SELECT min(id) FROM messages GROUP BY topic_id").fetchall()
    firsts = [row for row in rows if (row[0],) in topics]
    some = firsts if rng.random() < 0.7 else rows
    for number, data in rng.choices(some, k=rng.choice((1, 1, 3))):
        new = mutated(data, rng, text=False)
        if rng.random() < 0.2 and len(data) > 16:
            at = rng.randrange(4, len(data) - 8) & ~7 | 4
            bad = rng.choice((float("nan"), float("inf"), 1e308, -1e300))
            new = data[:at] + struct.pack("<d", bad) + data[at + 8 :]
        base.execute("UPDATE messages SET data = ? WHERE id = ?", (new, number))
    base.commit()
    base.close()
    return _bag_case(rng, "CDR payload", seeds)


def volume(rng: Random, seeds: Path) -> Case:
    """A volume's slices, and the settings beside them."""
    shutil.copytree(seeds / "terrain", "t", copy_function=shutil.copyfile)
    slices = sorted(Path("t").rglob("*.png"))
    target = rng.choice(slices)
    kind = rng.choice(("PNG", "PNG", "PNG", "TIFF", "settings YAML"))
    if kind == "settings YAML":
        (target,) = Path("t").rglob("workspace.yaml")
    if kind == "TIFF":
        picture = seeds / rng.choice(("slice.tif", "slice.tif", "slice.bmp", "slice.jpg"))
        data = picture.read_bytes() if rng.random() < 0.8 else tiff_bomb()
        if rng.random() < 0.5:  # a whole volume of them
            for each in target.parent.glob("*.png"):
                each.unlink()
                each.with_suffix(picture.suffix).write_bytes(data)
        else:
            target.write_bytes(data if rng.random() < 0.5 else mutated(data, rng, text=False))
    else:
        data = target.read_bytes()
        target.unlink()
        if kind == "PNG" and rng.random() < 0.2:
            target.write_bytes(rng.choice(PNG_BOMBS)(data))
        else:
            place(rng, str(target), data, text=kind != "PNG")
    roll = "roll t --omega 0.3 0.2 --time 0.01 --samples 5 --json"
    words = ("list t --json", roll, "mesh t --out o.stl --json", "world t --out o --json")
    return _case(f"volume {kind}", f"voxel-sphere {rng.choice(words)}")


def world(rng: Random, seeds: Path) -> Case:
    """A world's SDF."""
    place_text(rng, "w.sdf", seeds / "flat.sdf", XML_BOMBS)
    return _case("SDF", "check w.sdf --json")


def json_file(rng: Random, seeds: Path) -> Case:
    """JSON that an earlier call is to have left."""
    Path("o").mkdir()
    good = b'{"command": "run", "version": "1", "files": ["bag/metadata.yaml", "x.csv"]}'
    bombs = (b"[" * 100000, b'{"a":' * 100000, b"1" * 100000, b"\xff\xfe{}")
    data = rng.choice(bombs) if rng.random() < 0.2 else mutated(good, rng, text=True)
    Path("o/.roboaccord.json").write_bytes(data)
    return _case("JSON", RUN.format("snake serpenoid --out o --force"))


def output(rng: Random, seeds: Path) -> Case:
    """A file, device, folder or link in the place of an output: it must stay as it is."""
    ending = rng.choice(("csv", "npz", "mat", "gif", "svg", "html", "stl", "npy", "xml", "urdf"))
    name = f"target.{ending}" if rng.random() < 0.8 else "target"
    what = rng.choice(("text", "binary", "fifo", "folder", "device", "link", "loop", "read-only"))
    if what in ("text", "binary", "read-only"):
        Path(name).write_bytes(b"precious words\n" * 9 if what == "text" else b"\x7fELF\0\0\1" * 9)
        Path(name).chmod(0o444 if what == "read-only" else 0o644)
    elif what == "link":
        Path("precious.txt").write_text("precious words\n")
        Path(name).symlink_to("precious.txt")
    else:
        spoil(name, what)
    good, box = seeds / "run" / "bag", seeds / "arm.urdf"
    terrain = f"voxel-sphere mesh {seeds}/terrain"
    words = {
        "csv": rng.choice((f"export {good} --csv", "monkeybot continue --along period --from 0.94 "
                           "--to 0.941 --out",
                           f"voxel-sphere roll {seeds}/terrain --omega 1 1 --time 0.01 --out")),
        "npz": f"export {good} --npz", "mat": f"export {good} --mat",
        "gif": f"view {good} --size 64x64 --fps 2 --gif", "svg": "snake shapes --out",
        "html": f"parity {box} --engines mujoco --page", "xml": f"parity {box} --junit",
        "urdf": f"parity {box} --engines mujoco --repair",
        "npy": f"{terrain} --out o.stl --heights", "stl": f"{terrain} --out",
    }[ending]  # fmt: skip
    # A path of rolling may go into a folder.
    return _case("output", f"{words} {name}", refused=what != "folder" or " roll " not in words)


def planted(rng: Random, seeds: Path) -> Case:
    """Links, and other things, under names that a command writes."""
    words, outside = links.plant(rng, seeds)
    return Case("planted links", words, outside=outside, at_work=True)


def option(rng: Random, seeds: Path) -> Case:
    """A value of an option that is none, or extreme."""
    name, words, flags, kinds = _good(rng, seeds, sorted(set(GOOD) - SLOW))
    refused = False
    numbers = [key for key in kinds if "float" in kinds[key] or "int" in kinds[key]]
    choice = rng.random()
    if numbers and choice < 0.5:
        key = rng.choice(numbers)
        value = rng.choice(NONE if rng.random() < 0.5 else NUMBERS)
        refused = value in NONE
        words += [flags[key], *[value] * _count(kinds[key])]
    elif kinds and choice < 0.8:
        key = rng.choice(sorted(kinds))
        value = argument(rng.choice(PLACES if "Path" in kinds[key] else WORDS + NUMBERS + PLACES))
        words += [flags[key], *[value] * _count(kinds[key])]
        words += ["--stay", "0"] if key == "view" else []
    elif words and choice < 0.95:
        words[rng.randrange(len(words))] = argument(rng.choice((*WORDS, *NUMBERS, *PLACES)))
    else:
        words.insert(rng.randrange(len(words) + 1), "--no-such-option")
        refused = True
    printed = ["--json"] if name != "view" else []
    return Case(f"option of {name}", [*name.split(), *words, *printed], refused)


def edge(rng: Random, seeds: Path) -> Case:
    """A value at the edge of what an option may be, or beyond; what works on is ended."""
    name, words, flags, kinds = _good(rng, seeds, sorted(SLOW if rng.random() < 0.7 else EVERY))
    key = rng.choice(sorted(key for key in kinds if "bool" not in kinds[key]))
    is_number = "float" in kinds[key] or "int" in kinds[key]
    values = [rng.choice(EDGES if is_number else TEXTS) for _ in range(_count(kinds[key]))]
    words += [flags[key], *values]
    refused = is_number and any(value in NONE for value in values)
    printed = ["--json"] if name != "view" and rng.random() < 0.8 else []
    return Case(f"edge of {name}", [*name.split(), *words, *printed], refused, at_work=True)


def _good(
    rng: Random, seeds: Path, names: list[str]
) -> tuple[str, list[str], dict[str, str], dict[str, str]]:
    """Return a command, words that it accepts, and the flags and types of its options."""
    Path("made").symlink_to(seeds)
    Path("text").write_text("no file of this kind\n" * 9)
    for what in ("folder", "fifo", "device", "loop"):
        spoil(what, what)
    name = rng.choice(names)
    function = function_of(name)
    found = [*signature(function, eval_str=True).parameters.values()]
    if hasattr(function, "in_pieces"):
        kind = Parameter.KEYWORD_ONLY
        found.append(Parameter("cluster", kind, default="", annotation=Cluster))
    infos = options(Signature(found))
    hints = {each.name: each.annotation for each in found}
    flags = {key: _flags(key, info) for key, info in infos.items()}
    kinds = {key: str(get_args(hints[key])[0]) for key in infos}
    return name, shlex.split(EVERY[name].format(out="results", root=ROOT)), flags, kinds


def _count(kind: str) -> int:
    """Return how many words an option of this type takes."""
    if "tuple" in kind:
        return sum(kind.count(each) for each in ("float", "int", "str"))
    return 0 if "bool" in kind else 1


def change(rng: Random, seeds: Path) -> Case:
    """A `--set` of a key of a scenario to something extreme."""
    keys_ = ("seed", "duration", "control_period", "physics_step", "initial.q.joint_01", "name",
             "initial.position", "controller.amplitude", "controller.name", "friction.mu_along",
             "friction.law", "parameters.link_mass", "parameters.joints", "crosscheck.states",
             "engine_options.mujoco.integrator", "base", "world", "terrain", "faults", "robot",
             "initial.spread_q", "crosscheck.tolerances.one_step", "packages",
             "driven")  # fmt: skip
    key = rng.choice(keys_)
    extremes = ("nan", ".nan", ".inf", "-1", "1e308", "2024-13-45", "!!int z", "[" * 3000,
                "&a [*a]", "99999999999999999999", "1e-320", "{}", "[]", "''", "~", "!!binary x",
                "!!timestamp x", "*a", "'" + "a" * 300 + "'", "../x", "/etc", "1e13")  # fmt: skip
    value = rng.choice(extremes)
    short = [] if key in ("duration", "control_period", "physics_step") else SHORT.split()
    words = ["run", "snake", "serpenoid", "--transport", "direct", "--json", "--out", "o", *short]
    return Case("option --set", [*words, "--set", f"{key}={value}"])


def function_of(name: str) -> Callable[..., Any]:
    """Return the function of a command by its full name."""
    robot, _, word = name.rpartition(" ")
    place = COMMANDS.get(name, "")
    place = place or find_robot(robot).cli.get(word, "")
    place = place or entries("commands")[f"{robot.replace('-', '_')}.{word}"].value
    module, _, function = place.partition(":")
    found: Callable[..., Any] = getattr(import_module(module), function)
    return found


def _flags(name: str, info: Any) -> str:
    names = (info.default, *(info.param_decls or ()), f"--{name.replace('_', '-')}")
    return next(n for n in names if isinstance(n, str) and n.startswith("--")).partition("/")[0]


def argument(text: str) -> str:
    """Return a text as it can stand on a command line."""
    return text.replace("\0", "").encode("utf-8", "ignore").decode()


MAKERS: dict[str, Maker] = {
    f.__name__: f
    for f in (
        scenario, keys, parameters, urdf, xacro, mesh, bag, payload, volume, world, json_file,
        output, option, edge, change, planted,
    )
}  # fmt: skip
# By how much foreign data each kind takes: bags and options most.
WEIGHTS = {
    "scenario": 4, "urdf": 3, "xacro": 0.7, "mesh": 4, "bag": 8, "payload": 5, "volume": 6,
    "edge": 4, "option": 8, "change": 2, "world": 0.5, "keys": 0.7, "parameters": 0.5,
    "json_file": 0.7, "output": 1, "planted": 4,
}  # fmt: skip

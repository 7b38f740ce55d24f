"""The function `ra.parity`: what engines read from a robot's file, or how two files differ.

`parity` finds the files, examines them in all engines (collection.py) and repairs them if asked to
(repaired.py), or compares two files (pair_comparison.py). command.py makes the command
`accord parity` of it, and uses the other functions here, too. A new option is a parameter here and
there, and a word of PARITY, which states for which kinds of input it is valid. Kernels are not
compiled for a single file, which is faster.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from roboaccord.contract import AccordError, Modes, check_inside, check_target
from roboaccord.description.resources import share
from roboaccord.description.urdf_file import STANDARD_INPUT, UrdfFile
from roboaccord.description.xacro_file import NO_ARGUMENTS
from roboaccord.door import arguments as common
from roboaccord.engines import default_names, spec
from roboaccord.engines.formats import read_robot
from roboaccord.engines.reading import Base
from roboaccord.numerics.jit import DISABLED
from roboaccord.numerics.machine import environment
from roboaccord.scenario import Setup, find_robot, load_scenario, robot_names, scenario_names
from roboaccord.scenario.setups import NO_PACKAGES

from roboaccord_files.parity.bench import ReadingOptions, Settings, reader_names, version_of
from roboaccord_files.parity.collection import TIMEOUT, examine_all, run_isolated
from roboaccord_files.parity.files import Source, find_files, read_source
from roboaccord_files.parity.pair import TOLERANCE, Pair
from roboaccord_files.parity.pair_comparison import compare_files
from roboaccord_files.parity.repaired import write_repaired
from roboaccord_files.parity.result import Done, Parity


def _modes(given: Mapping[str, Any]) -> list[str]:
    """Return the kind of input of a call of `parity`, a key of PARITY, in a list."""
    if given.get("other") or given.get("words"):
        return ["A B"]
    what = given["what"]
    if not isinstance(what, str | Path) or is_robot(str(what)):
        return ["ROBOT"]
    return ["FOLDER" if Path(what).is_dir() else "FILE"]


OF_ENGINES = "engines settings base repair junit cluster"
OF_FILES = "models package trust :="
# Options by the kind of input that takes them; those of "" are for all kinds.
OPTIONS = {
    "": "page sarif seed",
    "ROBOT": OF_ENGINES,
    "FILE": f"{OF_ENGINES} {OF_FILES}",
    "FOLDER": f"{OF_ENGINES} {OF_FILES}",
    "A B": "words other map tolerance models package other-package trust :=",
}
PARITY = Modes(_modes, OPTIONS)
# Environment in which new processes interpret kernels: a short job is finished before numba, which
# compiles them, is loaded.
INTERPRETED = {DISABLED: "1"}
Tell = Callable[[str], None]  # a function that shows the user a line


@PARITY.check_arguments
def parity(
    what: str | Path | UrdfFile | Sequence[Source],
    other: str | Path | UrdfFile | None = None,
    *,
    engines: Sequence[str] | None = None,
    settings: Settings = "default",
    base: Base | None = None,
    packages: Mapping[str, Path] = NO_PACKAGES,
    arguments: Mapping[str, str] = NO_ARGUMENTS,
    repair: Sequence[Path] | str | Path = (),
    names: Mapping[str, str] = NO_ARGUMENTS,
    tolerance: float = TOLERANCE,
    other_packages: Mapping[str, Path] | None = None,
    other_arguments: Mapping[str, str] = NO_ARGUMENTS,
    seed: int = 0,
    done: Done = lambda robot: None,
    command: str = "",
) -> Parity | Pair:
    """Compare what engines read from a robot's file, or two descriptions, as `accord parity` does.

    Args:
        what: a file, a folder, a robot's name, or what `files_of` returns.
        other: a file or a robot's name, with which the first is compared instead of in engines.
        engines: names of engines; those installed if None.
        settings: of the engines: `default` for their own, `accord` for those of this project.
        base: how the root moves, `fixed` or `free`; as the file states it if None.
        packages: folders of ROS packages by name.
        arguments: arguments of a xacro file, by name.
        repair: files to which repaired files are written, or a folder of them.
        names: links and joints of the other by those of the first, if positions do not tell.
        tolerance: relative deviation of the other below which quantities count as equal.
        other_packages: packages of the other; the same if None.
        other_arguments: arguments of the other.
        seed: seed of the random states.
        done: called with each robot when it is finished.
        command: command line that repeats the check, shown on the page.

    Raises:
        AccordError: if a file cannot be read, or an engine is not installed.
    """
    if other is not None:
        first = description_of(what, packages, arguments, common.tell)
        folders = packages if other_packages is None else other_packages
        second = description_of(other, folders, other_arguments, common.tell)
        return compare_pair(first, second, names, tolerance, seed, command)
    versions = choose_readers(engines or (), common.tell)
    if isinstance(what, UrdfFile):
        files: Sequence[Source] = [what]
    elif isinstance(what, str | Path):
        files = files_of(str(what), packages, arguments, common.tell)
    else:
        files = what
    if isinstance(repair, str | Path):
        repair = targets_of(Path(repair), files, Path(str(what)))
    options = ReadingOptions(settings, base, seed)
    with environment(INTERPRETED) if len(files) == 1 else nullcontext():
        robots = examine_all(files, versions, options, done)
        if repair:
            robots = write_repaired(files, robots, repair, versions, options, done)
    return Parity(tuple(robots), versions, datetime.now(UTC).date().isoformat(), command)


def description_of(
    what: str | Path | UrdfFile | Sequence[Source],
    packages: Mapping[str, Path],
    arguments: Mapping[str, str],
    tell: Tell,
) -> UrdfFile:
    """Return the description of one of two robots to compare.

    Raises:
        AccordError: if it cannot be read, or is a folder.
    """
    if isinstance(what, str | Path):
        path = Path(what)
        if path.is_dir() and not is_robot(str(what)):
            raise AccordError(f"{what} is a folder: name two files, or robots")
        what = files_of(str(what), packages, arguments, lambda line: tell(f"{path.name}: {line}"))
    return read_source(what if isinstance(what, UrdfFile) else what[0])


def compare_pair(
    one: UrdfFile,
    other: UrdfFile,
    names: Mapping[str, str],
    tolerance: float,
    seed: int,
    command: str,
) -> Pair:
    """Compare two descriptions in a separate process; the arguments are those of `compare_files`.

    Raises:
        AccordError: if one is no tree, or its accelerations are not determined.
    """
    with environment(INTERPRETED):
        job = one, other, dict(names), tolerance, seed
        ((_, result),) = run_isolated(compare_files, [job], TIMEOUT)
    if isinstance(result, Pair):
        return replace(result, command=command)
    raise AccordError(result if isinstance(result, str) else result.reason)


def choose_readers(names: Sequence[str], tell: Tell) -> dict[str, str]:
    """Return the versions of the named engines, or of all that are installed if none is named.

    Raises:
        AccordError: if a named engine is unknown or not installed, or none is installed at all.
    """
    versions = {}
    for name in names or reader_names():
        try:
            versions[name] = version_of(name)
        except AccordError as error:
            if names:
                raise
            tell(f"left out: {error}")
    if not versions:
        packages = " ".join(spec(name).package for name in default_names())
        raise AccordError(f"no engine is installed: pip install {packages}")
    return versions


def files_of(
    what: str, packages: Mapping[str, Path], arguments: Mapping[str, str], tell: Tell
) -> Sequence[Source]:
    """Return the robots that `what` names: a file, all files of a folder, or an installed robot."""
    path = Path(what)
    if is_robot(what):
        return [file_of(what)]
    if path.is_dir():
        return find_files(path, packages, arguments)
    is_readable = path.exists() or path == STANDARD_INPUT
    if not is_readable and "/" not in what and not path.suffix:
        find_robot(what)  # raises an error that names similar robots
    file = read_robot(path, packages, arguments)
    for line in file.notes:
        tell(line)
    return [file]


def is_robot(what: str) -> bool:
    """Return whether `what` is the name of an installed robot."""
    return what.replace("-", "_") in robot_names() and not Path(what).is_file()


def file_of(name: str) -> UrdfFile:
    """Return the URDF of an installed robot, with the base that it has in Gazebo."""
    from roboaccord.gazebo.form import base_in_gazebo

    robot = find_robot(name)
    setup = Setup.of(load_scenario(robot.package, robot.name, scenario_names(robot.package)[0]))
    text = setup.urdf(base=base_in_gazebo(setup.scenario))
    path = share(robot.package) / "urdf" / f"{robot.name}.urdf.xacro"
    return UrdfFile(path, robot.name, text, {})


def targets_of(out: Path, files: Sequence[Source], what: Path) -> list[Path]:
    """Return the files to which repaired files are written; those of a folder keep their paths.

    Raises:
        AccordError: if one cannot be written there.
    """
    targets = [out]
    if what.is_dir():
        inside = [file.path.absolute().relative_to(what.absolute()) for file in files]
        stems = [path.name.removesuffix(".xacro").removesuffix(".urdf") for path in inside]
        names = zip(inside, stems, strict=True)
        targets = [out / path.with_name(f"{stem}.urdf") for path, stem in names]
    for path in targets:
        check_target(path, ".urdf")
        check_inside(out, path)
    return targets

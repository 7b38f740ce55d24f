"""Options belong to a mode: those of another one are refused, by commands and by functions."""

from __future__ import annotations

import functools
import importlib
import inspect
import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pytest
import roboaccord as ra
import typer
from roboaccord.cli import groups, main
from roboaccord.cli.command import accepted_values, add_command
from roboaccord.cli.result import Result
from roboaccord.contract.errors import AccordError
from roboaccord.contract.modes import FLAGS, SETUP, Modes, added_modes, by_option, with_added
from roboaccord.contract.plugins import added, entries
from roboaccord.scenario.installed import robot_names
from roboaccord.scenario.setup import find_robot
from roboaccord.scenario.setups import load_setup
from typer.main import get_command

ARGUMENTS = ":="  # of a xacro file
SELECTING = ("gif", "mp4", "scenario", "other", "others")  # arguments that select a mode
TEXTS = {".sdf": "<sdf><world name='w'/></sdf>", ".urdf": "<robot name='r'/>"}
OPTIONS = ("faults", "base", "packages", "arguments")  # of a robot


@dataclass(frozen=True)
class Command:
    """A command with modes: the words before its own, its parser, and its modes."""

    words: tuple[str, ...]
    parser: Any
    modes: Modes
    text: str

    @property
    def flags(self) -> dict[str, Any]:
        """What its options are called, and positional arguments, by the parser."""
        return {each.opts[0].lstrip("-"): each for each in self.parser.params}

    @property
    def options(self) -> dict[str, Any]:
        """What its options are called."""
        return {k: v for k, v in self.flags.items() if v.opts[0] != k and k not in ("json", "help")}

    @property
    def examples(self) -> list[list[str]]:
        """Examples of its help, without the words before its own."""
        lines = re.findall(r"^ +accord (.*(?:\n +[^a\s].*)*)", self.text, re.MULTILINE)
        return [shlex.split(line)[len(self.words) :] for line in lines]

    def mode(self, words: list[str]) -> tuple[str, ...]:
        """Return the modes that words select."""
        ctx = self.parser.make_context(self.words[-1], list(words))
        values = {flag: ctx.params.get(each.name) for flag, each in self.flags.items()}
        for flag, value in values.items():
            if isinstance(value, list | tuple) and flag not in self.options:
                values[flag] = [word for word in value if ":=" not in str(word)]
        return tuple(self.modes.in_force(values))

    def taken(self, mode: tuple[str, ...]) -> set[str]:
        """Return what modes take by their declaration."""
        return set(" ".join(self.modes.options.get(each, "") for each in ("", *mode)).split())

    def words_of(self, name: str) -> list[str]:
        """Return an option, or an argument, as it is typed, with as many values as it takes."""
        if name == ARGUMENTS:
            return ["a:=1"]
        parameter = self.flags[name]
        default = parameter.default
        default = default[0] if isinstance(default, tuple) else getattr(default, "value", default)
        value = str(default or getattr(parameter, "min", None) or 1)
        if name not in self.options:
            return [value]
        count = 0 if getattr(parameter, "is_flag", False) else parameter.nargs
        return [f"--{name}", *[value] * count]


def places() -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the words of all commands, and where their functions are."""
    for name, place in groups.COMMANDS.items():
        yield (name,), place
    yield from (((name,), e.value) for name, e in entries("commands").items() if "." not in name)
    for robot in robot_names():
        others = {n: e.value for n, e in added("commands", robot).items() if "." not in n}
        for name, place in {**find_robot(robot).cli, **others}.items():
            yield (robot.replace("_", "-"), name), place


@functools.cache
def command_at(name: str, place: str, robot: str = "") -> Any:
    return original(name, place, robot)


original = groups.command_at


@functools.cache
def commands() -> tuple[Command, ...]:
    """Return the commands that have modes."""
    with_modes = []
    for words, target in places():
        module, _, function = target.partition(":")
        if hasattr(getattr(importlib.import_module(module), function), "modes"):
            robot = words[0].replace("-", "_") if len(words) > 1 else ""
            parser = command_at(words[-1], target, robot)
            callback = parser.callback  # with the modes that packages add
            with_modes.append(Command(words, parser, callback.modes, callback.__doc__))
    return tuple(with_modes)


def make_named_files(words: list[str]) -> None:
    """Make the files and folders that words name."""
    for word in words:
        if re.fullmatch(r"[\w.]+(/[\w.]*)+|\w+(\.\w+)+", word) and not Path(word).exists():
            path = Path(word)
            (path.parent if path.suffix else path).mkdir(parents=True, exist_ok=True)
            if path.suffix:
                path.write_text(TEXTS.get(path.suffix, ""), encoding="utf-8")


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make what the examples name, and stand beside it."""
    monkeypatch.chdir(tmp_path)
    for command in commands():
        for words in command.examples:
            make_named_files(words)
    return tmp_path


def test_commands_with_modes_are_found() -> None:
    """The walk is not empty: the commands that were known to drop options are among them."""
    names = {" ".join(command.words) for command in commands()}
    expected = {"crosscheck", "check", "run", "teleop", "plot"}
    expected |= {"view"} & {*entries("commands")}
    if "packbot" in robot_names():
        expected |= {"packbot look", "packbot plan", "packbot fall"}
    assert expected <= names


def test_every_option_is_declared() -> None:
    """An option that no mode declares, and a name that is no option, is a line of this test."""
    wrong = []
    for command in commands():
        name, takes = " ".join(command.words), command.modes.options
        declared = set(" ".join(takes.values()).split())
        wrong += [
            f"accord {name} --{option}: no mode declares it; add it to the modes that take it, or "
            'to "" if all do'
            for option in command.options.keys() - declared
        ]
        function = getattr(ra, command.words[-1], None) if len(command.words) == 1 else None
        options = {ARGUMENTS, *command.flags}
        options |= (
            {FLAGS.get(n, n) for n in inspect.signature(function).parameters} if function else set()
        )
        options |= {FLAGS.get(n, n) for n in OPTIONS} if function else set()
        wrong += [f"accord {name}: there is no option {each}" for each in declared - options]
    assert not wrong, "\n".join(wrong)


def test_options_of_other_modes_are_refused_in_one_line(
    files: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every command, in the mode of each of its examples, with each option of its other modes."""
    monkeypatch.setattr(groups, "command_at", command_at)
    for command in commands():
        takes, tried = command.modes.options, set[tuple[str, ...]]()
        refused, modes = set[str](), set[str]()
        every = command.taken(()) | {key for key in command.flags if key not in command.options}
        declared = set(" ".join(takes.values()).split()) & ({ARGUMENTS, *command.flags})
        for example in command.examples:
            mode = command.mode(example)
            modes |= {*mode}
            if mode in tried:
                continue
            tried.add(mode)
            for name in sorted(declared - command.taken(mode)):
                extra = command.words_of(name)
                if name == ARGUMENTS and not example:
                    continue
                words = [*example, *extra]
                if (other := command.mode(words)) != mode and name in command.taken(other):
                    continue  # it selects another mode
                status = main.run([*command.words, *words])
                out, err = capsys.readouterr()
                case = f"accord {shlex.join([*command.words, *words])}: {status} {out} {err}"
                assert status == 2, case
                assert out == "", case
                assert err.count("\n") == 1, case
                having = [m for m in takes if name in takes[m].split() and m != SETUP]
                belongs = f"belongs to {' '.join(command.words)} {' or '.join(having)}, not to "
                assert belongs in err, case
                refused.add(name)
        named = " ".join(command.words)
        assert {*takes} - {"", SETUP} <= modes, f"accord {named} has no example of a mode"
        for name in declared - every - refused if len(modes) > 1 else ():
            shared = sum(name in takes[key].split() for key in takes if key != SETUP) > 1
            assert shared or any(
                command.mode([*key, *command.words_of(name)]) != command.mode(key)
                for key in command.examples
            ), f"accord {named}: no example has a mode without --{name}"


def test_no_example_is_refused(files: Path) -> None:
    """What the help shows belongs together."""
    for command in commands():
        for example in command.examples:
            ctx = command.parser.make_context(command.words[-1], [*example])
            taken, _ = accepted_values(command.modes, " ".join(command.words), ctx, ctx.params)
            assert set(taken) <= set(ctx.params)


DOORS = [n for n in ("crosscheck", "parity", "run", "sweep", "view") if n in dir(ra)]


def subjects(folder: Path) -> dict[str, dict[str, Any]]:
    """Return what a function may be given first, and with it, by the mode that it selects."""
    (folder / "bag").mkdir()
    robot = load_setup("snake", "serpenoid")
    return {
        SETUP: {"first": robot}, "ROBOT": {"first": "snake"}, "FILE": {"first": "arm.urdf"},
        "FILE.xacro": {"first": "arm.urdf.xacro"}, "BAG": {"first": folder / "bag"},
        "FOLDER": {"first": folder}, "LOG": {"first": "log.csv", "robot": "arm.urdf"},
        "as a film": {"first": folder / "bag", "gif": "film.gif"},
        "with SCENARIO": {"first": "snake", "scenario": "serpenoid"},
    }  # fmt: skip


@pytest.mark.parametrize("name", DOORS)
def test_functions_refuse_as_their_commands_do(name: str, tmp_path: Path) -> None:
    """In each mode of a function each argument of its other modes is refused."""
    function = getattr(ra, name)
    modes = with_added(function.modes, added_modes("functions", name))
    first, *names = inspect.signature(function).parameters
    flags = {key: FLAGS.get(key, key) for key in (*names, *OPTIONS) if key != "options"}
    takes = set(" ".join(modes.options.values()).split())
    refused = set[str]()
    for given in subjects(tmp_path).values():
        subject, more = given["first"], {k: v for k, v in given.items() if k != "first"}
        if more.keys() - flags.keys():
            continue
        values = {FLAGS.get(first, first): subject, **{flags[k]: v for k, v in more.items()}}
        in_force = modes.in_force(values)
        taken = set(" ".join(modes.options.get(key, "") for key in ("", *in_force)).split())
        if takes & {flags[k] for k in more} - taken:
            continue  # another function's mode
        for argument, flag in flags.items():
            if flag not in takes - taken or argument in SELECTING:
                continue
            with pytest.raises(AccordError, match=f"^{argument} belongs to {name} .*, not to "):
                function(subject, **more, **{argument: "x"})
            refused.add(flag)
    assert refused


@pytest.mark.parametrize("name", DOORS)
@pytest.mark.parametrize("nothing", ["", (), []])
def test_no_subject_is_one_line(name: str, nothing: object) -> None:
    """It is refused before a mode is sought by it."""
    with pytest.raises(AccordError, match=f"^{name}: .* is empty$"):
        getattr(ra, name)(nothing)


def test_zero_is_an_argument(tmp_path: Path) -> None:
    """A number says something, whatever it is; False and what is empty do not."""
    for call in (
        lambda: ra.crosscheck(tmp_path, refine=0),
        lambda: ra.view("snake", "serpenoid", fps=0.0),
        lambda: ra.view(tmp_path, gif="film.gif", stay=0),
    ):
        with pytest.raises(AccordError, match=" belongs to "):
            call()
    with pytest.raises(AccordError, match="is not a bag"):
        ra.crosscheck(tmp_path, changed=False, base="")


@pytest.mark.parametrize("value", ["", None, ()])
def test_what_says_nothing_is_no_argument(value: object) -> None:
    """An empty argument of another mode is none: the call goes on, to the next error."""
    setup = load_setup("snake", "serpenoid")
    with pytest.raises(AccordError, match="unknown engine"):
        ra.run(setup, settings=value, base=value, engine="none")  # type: ignore[arg-type]


def test_a_result_names_only_what_its_mode_took(capsys: pytest.CaptureFixture[str]) -> None:
    """Of options with a default, those of another mode are not printed as in force."""

    @Modes(
        lambda given: ["a bag" if given["what"] == "bag" else "a robot"],
        {"a robot": "refine perturb", "a bag": "skip", "": "seed"},
    )
    def judge(
        what: Annotated[str, typer.Argument()],
        refine: Annotated[int, typer.Option()] = 3,
        perturb: Annotated[str, typer.Option()] = "none",
        skip: Annotated[float, typer.Option()] = 0.5,
        seed: Annotated[int, typer.Option()] = 0,
    ) -> Result:
        return Result({"what": what, "given": [refine, perturb, skip, seed]})

    app = typer.Typer()
    add_command(app, "judge", judge)
    for what, names in (("bag", {"skip", "seed"}), ("snake", {"refine", "perturb", "seed"})):
        get_command(app)([what, "--json", "--seed", "2"], standalone_mode=False)
        assert json.loads(capsys.readouterr().out)["options"].keys() == names
    with pytest.raises(AccordError) as error:
        get_command(app)(["bag", "--refine", "3"], standalone_mode=False)
    assert str(error.value) == "--refine belongs to judge a robot, not to a bag"


@pytest.mark.parametrize("value", [True, "cost"])
def test_two_modes_by_an_option(value: object) -> None:
    """An option that is set, or has a value, selects the mode that takes more."""
    text = "objective" if value is True else f"objective {value}"
    modes = by_option(text, "min-speed", "pace", "seed")
    assert modes.in_force({"objective": value}) == [f"with --{text}"]
    assert modes.in_force({"objective": False}) == [f"without --{text}"]
    assert modes.options[""].split() == ["objective", "seed"]

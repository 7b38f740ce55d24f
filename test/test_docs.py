"""The pages keep up with the code: links, commands, parameters, arguments."""

from __future__ import annotations

import ast
import re
import shlex
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml
from roboaccord.cli.failures import hint_for_option
from roboaccord.cli.groups import COMMANDS, command_at, robot_commands
from roboaccord.cli.main import app
from roboaccord.scenario.installed import robot_names

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^ *```(\w*)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)


def relative(path: Path) -> str:
    """Return a page's name, for the test's."""
    return str(path.relative_to(ROOT))


def anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub makes of a page's headings."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in headings}


def commands() -> list[tuple[str, str]]:
    """Return every `accord` command in a code block of a page, with the page's name."""
    lines = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        blocks = [body for _, body in FENCE.findall(text)]
        blocks += re.findall(r"^    \S.*$", FENCE.sub("", text), re.MULTILINE)
        for line in "\n".join(blocks).splitlines():
            match = re.match(r" *(?:\w+=\S+ )*accord (.+)", line)
            if match and not line.rstrip().endswith(":"):
                lines.append((relative(page), match[1]))
    return lines


def program() -> list[tuple[str, Any]]:
    """Return every command of `accord` by its full name."""
    parsers = [(name, command_at(name, place)) for name, place in COMMANDS.items()]
    for robot in (name for name in robot_names() if (ROOT / "src" / name).is_dir()):
        group = robot_commands(robot)
        names = group.list_commands(None)
        word = robot.replace("_", "-")
        parsers += [(f"{word} {name}", group.get_command(None, name)) for name in names]
    return parsers


@pytest.fixture(scope="module")
def accord() -> Any:
    """Return the command line."""
    return typer.main.get_command(app)


@pytest.mark.parametrize("page", PAGES, ids=relative)
def test_links_lead_somewhere(page: Path) -> None:
    """Files and images exist, and so do the headings that links point at."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    for link in LINK.findall(text):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{link} does not exist"
        assert not anchor or anchor in anchors(target), f"{link}: no such heading"


def test_what_the_site_imports_is_there() -> None:
    """`make site` alone runs its hooks, as they need mkdocs."""
    for node in ast.walk(ast.parse((ROOT / ".ci/mkdocs_hooks.py").read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("roboaccord"):
            names = vars(import_module(str(node.module)))
            assert all(each.name in names for each in node.names), node.module


def test_there_are_commands_to_check() -> None:
    """A change of how pages write commands must not empty the next test."""
    assert len(commands()) > 20


@pytest.mark.parametrize(("page", "command"), commands())
def test_command_parses(accord: Any, page: str, command: str) -> None:
    """Command, arguments and options are those of the program."""
    words = shlex.split(command.split(" > ")[0], comments=True)
    context = accord.make_context("accord", [], resilient_parsing=True)
    name, parser = "accord", accord
    while hasattr(parser, "resolve_command") and words and not words[0].startswith("--"):
        name, parser, words = parser.resolve_command(context, words)
        if hasattr(parser, "resolve_command"):
            context = parser.make_context(name, [], parent=context, resilient_parsing=True)
    try:
        parser.make_context(name, words, parent=context)
    except typer.Exit:  # --help and --version
        pass
    except Exception as error:
        # Typer carries its own click, so a usage error is known by what it offers.
        if not hasattr(error, "format_message"):
            raise
        line = hint_for_option(error, words) or error.format_message()
        pytest.fail(f"{page}: accord {command}: {line}")


def test_every_command_is_named() -> None:
    """docs/cli.md writes out each; longer words that begin like it do not count."""
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    names = [name for name, _ in program()]
    assert len(names) > len(COMMANDS)
    missing = [name for name in names if not re.search(rf"accord {name}(?![\w-])", page)]
    assert not missing, f"{', '.join(missing)} missing in docs/cli.md"


@pytest.mark.parametrize("robot", [n for n in robot_names() if (ROOT / "src" / n).is_dir()])
def test_parameter_table_is_that_of_the_file(robot: str) -> None:
    """Each parameter stands in the robot's page with value and unit."""
    page = (ROOT / "docs" / f"{robot}.md").read_text(encoding="utf-8")
    entries = yaml.safe_load((ROOT / "src" / robot / "config/parameters.yaml").read_text())
    for name, entry in entries.items():
        assert f"| `{name}` | {entry['value']:g} | {entry['unit']} |" in page


def test_launch_arguments_and_node_parameters_are_documented() -> None:
    """docs/ros.md has a row for each."""
    page = (ROOT / "docs" / "ros.md").read_text(encoding="utf-8")
    package = ROOT / "src/roboaccord_ros/roboaccord_ros"
    launch = (ROOT / "launch/simulate.launch.py").read_text(encoding="utf-8")
    nodes = (package / "graph/parameters.py").read_text(encoding="utf-8")
    names = re.findall(r'^ +argument\("(\w+)"', launch, re.MULTILINE)
    assert len(names) > 20
    names += re.findall(r'^    "(\w+)": \(', nodes, re.MULTILINE)
    assert len(names) > 40
    for name in names:
        assert f"`{name}`" in page, f"{name} is missing in docs/ros.md"

"""What `make site` adds to docs/: files that pages link to, and references made from the code."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from posixpath import dirname, normpath, relpath
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

import roboaccord as ra
from matplotlib.figure import Figure
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from roboaccord.cli.groups import COMMANDS, added_command, command_at
from roboaccord.contract.plugins import entries
from roboaccord.scenario.files import load_setup, scenario_names
from roboaccord.scenario.keys import Key, keys_of
from roboaccord.scenario.setup import find_robot, robot_names

ROOT = Path(__file__).resolve().parents[1]
STYLE = """
.md-typeset pre { overflow-x: auto; }
.md-typeset td code { overflow-wrap: normal; word-break: keep-all; }
@media (max-width: 600px) {
  .md-typeset table:not([class]) :is(th, td) { min-width: 0; padding: 0.6em 0.4em; }
}
"""
GALLERY = ROOT / "runs/gallery"
NOTEBOOK = "examples/first_steps.ipynb"
PAGES = {  # outside docs/, and where the site has them
    "CONTRIBUTING.md": "CONTRIBUTING.md",
    "CHANGELOG.md": "CHANGELOG.md",
    NOTEBOOK: "first_steps.md",
}
LINK = re.compile(r"\[([^\]\[]*)\]\((?!\w+:)([^)#\s]+)((?:#[^)\s]*)?)\)")
API = (
    "run", "crosscheck", "parity", "compare", "sweep", "read_bag", "view",
    "Run", "BagRun", "Report", "Comparison", "Study", "Parity",
)  # fmt: skip


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made here, and the files that pages link to."""
    made = {
        **{
            page: (ROOT / source).read_text(encoding="utf-8")
            for source, page in PAGES.items()
            if source != NOTEBOOK
        },
        "reference/python.md": "\n".join(_python()),
        "reference/commands.md": "\n".join(_commands()),
        "reference/keys.md": "\n".join(_keys()),
        "gallery.md": _gallery(),
        "site.css": STYLE,
        **_notebook(NOTEBOOK),
    }
    for page, text in made.items():
        files.append(File.generated(config, page, content=text))
    for file in [*GALLERY.glob("*/*.gif"), *GALLERY.glob("*/report.html")]:
        path = f"gallery/{file.relative_to(GALLERY)}"
        files.append(File.generated(config, path, abs_src_path=str(file)))
    linked = {target for page in files.documentation_pages() for target in _outside(page)}
    for source in sorted(linked):
        files.append(File.generated(config, f"files/{source}", abs_src_path=str(ROOT / source)))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Turn links to files of the repository into links to what the site has of them."""

    def moved(match: re.Match[str]) -> str:
        text, target, anchor = match.groups()
        source = _source(page.file, target)
        if source is None:
            return match[0]
        if (ROOT / source).is_dir():  # named, but not linked
            return text
        place = relpath(_place(source), dirname(page.file.src_uri) or ".")
        return f"[{text}]({place}{anchor})"

    return LINK.sub(moved, markdown)


def _place(source: str) -> str:
    """Return where the site has a file of the repository."""
    outside = PAGES.get(source, f"files/{source}")
    return source.removeprefix("docs/") if source.startswith("docs/") else outside


def _source(file: File, target: str) -> str | None:
    """Return the file of the repository that a link means; None for one of docs/ itself."""
    sources = {page: source for source, page in PAGES.items()}
    home = sources.get(file.src_uri, f"docs/{file.src_uri}")
    path = normpath(f"{dirname(home)}/{target}")
    inside = path.startswith("docs/") and home.startswith("docs/")
    return None if inside or not (ROOT / path).exists() else path


def _outside(page: File) -> Iterator[str]:
    """Yield the files outside docs/ to which a page links."""
    for _, target, _ in LINK.findall(page.content_string):
        source = _source(page, target)
        if source and (ROOT / source).is_file() and _place(source).startswith("files/"):
            yield source


def _python() -> Iterator[str]:
    yield "# Python API\n\nOf `import roboaccord as ra`; [Python](../python.md) introduces it.\n"
    for name in API:
        heading = f"{{heading: ra.{name}, toc_label: ra.{name}, members: [to_json]}}"
        yield f"::: {getattr(ra, name).__module__}.{name}\n    options: {heading}\n"


def _commands() -> Iterator[str]:
    yield "# Commands\n\nWhat `--help` prints; [which question, which command](../cli.md).\n"
    for name, place in COMMANDS.items():
        yield from _command(f"accord {name}", command_at(name, place))
    for name in sorted(entries("commands")):
        if "." not in name:
            yield from _command(f"accord {name}", added_command(name))
    for robot in map(find_robot, robot_names()):
        for name, place in robot.cli.items():
            words = f"accord {robot.name.replace('_', '-')} {name}"
            yield from _command(words, command_at(name, place))


def _command(name: str, command: Any) -> Iterator[str]:
    text = re.sub("^  (?=[a-z])", "    ", command.help or "", flags=re.MULTILINE)  # examples
    yield f"## {name}\n\n{text}\n"
    yield "| argument | meaning |\n|---|---|"
    for each in command.params:
        words = (
            each.opts if each.param_type_name == "option" else [each.metavar or each.name.upper()]
        )
        yield f"| {' '.join(f'`{word}`' for word in words)} | {_cell(each.help or '')} |"
    yield ""


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", r"\|").replace("<", "&lt;")


def _keys() -> Iterator[str]:
    yield "# Scenario keys\n\n`accord scenario ROBOT SCENARIO` prints those of one.\n"
    tables = {robot: _keys_of(robot) for robot in robot_names()}
    shared = set.intersection(*(set(keys) for keys in tables.values()))
    first = next(iter(tables.values()))
    yield from _table("Of every robot", [first[key] for key in first if key in shared])
    for robot, keys in tables.items():
        yield from _table(find_robot(robot).name, [keys[key] for key in keys if key not in shared])


def _keys_of(robot: str) -> dict[str, Key]:
    """Return the keys of all scenarios of a robot, each as the first has it."""
    found: dict[str, Key] = {}
    for name in scenario_names(robot):
        for key in keys_of(load_setup(robot, name)):
            found.setdefault(key.key, key)
    return found


def _table(title: str, keys: list[Key]) -> Iterator[str]:
    yield f"## {title}\n\n| key | type | unit | default | meaning |\n|---|---|---|---|---|"
    for key in keys:
        cells = (f"`{key.key}`", key.kind, key.unit, f"`{key.default}`", key.meaning)
        yield f"| {' | '.join(map(_cell, cells))} |"
    yield ""


def _notebook(source: str) -> dict[str, str | bytes]:
    """Run a notebook, and return its page and the figures that it draws."""
    module = ModuleType("notebook")  # where a controller of its own is looked for
    sys.modules[module.__name__], place = module, Path(PAGES[source])
    lines, figures = list[str](), dict[str, str | bytes]()
    with TemporaryDirectory() as folder, contextlib.chdir(folder):
        for cell in json.loads((ROOT / source).read_text(encoding="utf-8"))["cells"]:
            text = "".join(cell["source"])
            if cell["cell_type"] == "markdown":
                lines += [text, ""]
                continue
            *body, last = ast.parse(text).body
            exec(compile(ast.Module(body, []), source, "exec"), vars(module))  # noqa: S102
            assert isinstance(last, ast.Expr)
            value = eval(compile(ast.Expression(last.value), source, "eval"), vars(module))  # noqa: S307
            lines += [f"```python\n{text}\n```", ""]
            if isinstance(value, Figure):
                picture = io.BytesIO()
                value.savefig(picture, dpi=100)
                name = f"{place.stem}_{cell['id']}.png"
                figures[name] = picture.getvalue()
                lines += [f"![Output of the cell above]({name})", ""]
            else:
                shown = getattr(value, "_repr_html_", lambda value=value: f"<pre>{value}</pre>")()
                lines += [shown, ""]
    return {str(place): "\n".join(lines), **figures}


def _gallery() -> str:
    page = GALLERY / "gallery.md"
    if page.is_file():
        return page.read_text(encoding="utf-8")
    return "# Gallery\n\n`make gallery` runs the robots in their engines, and fills this page.\n"

"""What `make site` adds to docs/: files that pages link to, and references made from the code."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from posixpath import dirname, join, normpath, relpath
from typing import Any

import roboaccord as ra
import yaml
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from roboaccord.cli.main import app
from roboaccord.scenario import robot_names, scenario_names
from roboaccord.scenario.keys import Key, keys_of
from roboaccord.scenario.setups import load_setup
from roboaccord_files.rules.table import RULES
from typer.main import get_command

ROOT = Path(__file__).resolve().parents[1]
STYLE = """
.md-grid { max-width: 72rem; }
.md-typeset { font-size: 0.75rem; line-height: 1.45; }
.md-typeset img { max-width: min(100%, 32rem); }
.md-typeset pre > code { padding: 0.5em 1em; }
.md-typeset td img { min-width: min(16rem, 30vw); }
.md-typeset pre { overflow-x: auto; }
.md-typeset pre[style] { font-size: 0.85em; }
.md-typeset table:not([class]) :is(th, td) { min-width: 0; padding: 0.25em 0.7em; }
.md-typeset td code { overflow-wrap: normal; word-break: keep-all; }
@media (max-width: 600px) { .md-typeset table:not([class]) :is(th, td) { padding: 0.4em; } }
"""
PAGES = {  # outside docs/, and where the site has them
    "CONTRIBUTING.md": "CONTRIBUTING.md",
    "CHANGELOG.md": "reference/changes.md",
    "examples/acromonk/README.md": "acromonk.md",
    "examples/first_steps.ipynb": "first_steps.md",
    "src/roboaccord_files/roboaccord_files/rules/rules.yaml": "reference/rules.md",
}
LINK = re.compile(r"\[((?:[^\]\[]|\[[^\]]*\])*)\]\((?!\w+:)([^)#\s]+)((?:#[^)\s]*)?)\)")
# A function and the class of its result.
API = {
    "run": "Run", "crosscheck": "Report", "parity": "Parity", "compare": "Comparison",
    "sweep": "Study", "read_bag": "BagRun", "view": "",
}  # fmt: skip


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made here, and the files that pages link to."""
    texts = {source: (ROOT / source).read_text(encoding="utf-8") for source in PAGES}
    made = {
        **{PAGES[source]: text for source, text in texts.items() if source.endswith(".md")},
        **_index("functions", "Functions of [`import roboaccord as ra`](../python.md)", _python()),
        **_index("commands", "Commands of [`accord`](../cli.md)", _commands()),
        **_index("keys", "Keys of scenarios, as `accord scenario` prints them", _keys()),
        **_index("rules", "Rules of [`accord check`](../rules.md)", _rules()),
        **_index("changes", "Changes", _changes()),
        "gallery.md": "\n".join(_gallery()),
        "site.css": STYLE,
        **_notebook("examples/first_steps.ipynb"),
    }
    for page, text in made.items():
        files.append(File.generated(config, page, content=text))
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
    path = normpath(join(dirname(home), target))
    inside = path.startswith("docs/") and home.startswith("docs/")
    return None if inside or not (ROOT / path).exists() else path


def _outside(page: File) -> Iterator[str]:
    """Yield the files outside docs/ to which a page links."""
    for _, target, _ in LINK.findall(page.content_string):
        source = _source(page, target)
        if source and (ROOT / source).is_file() and _place(source).startswith("files/"):
            yield source


def _index(name: str, title: str, entries: Iterator[tuple[str, str, str]]) -> dict[str, str]:
    """Return the page of each entry (title, summary, text), and one with a line for each."""
    pages = {}
    lines = ["---\nhide: [toc]\n---", f"# {title}", "", "| page | about |", "|---|---|"]
    for entry, summary, text in entries:
        page = f"{name}/{re.sub(r'[^a-z0-9]+', '_', entry.lower()).strip('_')}.md"
        lines.append(f"| [{entry}]({page}) | {summary} |")
        meta = f"---\nsearch: {{boost: 0.5}}\nhide: [{'' if '## ' in text else 'toc'}]\n---\n"
        pages[f"reference/{page}"] = f"{meta}# {entry}\n\n[All {name}](../{name}.md)\n\n{text}\n"
    return {f"reference/{name}.md": "\n".join(lines), **pages}


def _python() -> Iterator[tuple[str, str, str]]:
    for function, result in API.items():
        names = [name for name in (function, result) if name]
        options = "    options: {{heading: ra.{0}, toc_label: ra.{0}, members: [to_json]}}\n"
        text = [f"::: {getattr(ra, n).__module__}.{n}\n{options.format(n)}" for n in names]
        summary = (getattr(ra, function).__doc__ or "").partition("\n")[0]
        yield f"ra.{function}", summary, "\n".join(text)


def _commands(words: str = "accord", group: Any = None) -> Iterator[tuple[str, str, str]]:
    group = group or get_command(app)
    for name in group.list_commands(None):
        command, typed = group.load(name), f"{words} {name.replace('_', '-')}"
        if hasattr(command, "list_commands"):
            yield from _commands(typed, command)
            continue
        text = re.sub(r"\n\n  (?=[a-z])", "\n    ", command.help)  # examples, as one block
        text = re.sub(r"^(\w.*)(?=\n    )", r"\1\n", text, flags=re.MULTILINE)
        rows = ["| argument | meaning |", "|---|---|"]
        for each in command.params:
            names = each.opts if each.param_type_name == "option" else []
            named = " ".join([*names, each.metavar or ("" if names else each.name.upper())])
            rows.append(f"| `{named.strip()}` | {_cell(each.help or '')} |")
        summary = _cell(text.partition("\n\n")[0])
        yield typed, summary, "\n".join([text, "", *rows])


def _keys() -> Iterator[tuple[str, str, str]]:
    for robot in robot_names():
        for name in scenario_names(robot):
            setup = load_setup(robot, name)
            rows = ["| key | value | default | type | meaning |", "|---|---|---|---|---|"]
            rows += map(_row, keys_of(setup))
            yield f"{robot} {name}", _cell(setup.scenario.description), "\n".join(rows)


def _row(key: Key) -> str:
    default = "" if key.default == key.value else f"`{key.default}`"
    kind = ", ".join(filter(None, (key.kind, key.unit)))
    cells = (f"`{key.key}`", f"`{key.value}`", default, kind, key.meaning)
    return f"| {' | '.join(map(_cell, cells))} |"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", r"\|").replace("<", "&lt;")


def _rules() -> Iterator[tuple[str, str, str]]:
    """Yield the rules by subject, as the table of docs/rules.md has them."""
    table = (ROOT / "docs/rules.md").read_text(encoding="utf-8").partition("\n## ")[0]
    for subject, names in re.findall(r"^\| (.+?) \| (`.*`) \|$", table, re.MULTILINE):
        text = [f"## {name}\n\n{RULES[name].text}\n" for name in re.findall("[a-z0-9-]+", names)]
        yield subject, names, "\n".join(text)


def _changes() -> Iterator[tuple[str, str, str]]:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").replace("](docs/", "](../../")
    for release in text.split("\n## ")[1:]:
        about, *parts = release.split("\n### ")
        version, _, date = about.partition("\n")[0][1:].partition("]")
        for title, _, body in (part.partition("\n") for part in parts):
            yield f"{title} ({version})" if date else title, version + date, body


def _notebook(source: str) -> dict[str, str | bytes]:
    """Return the page of a notebook with its outputs, and the figures among them."""
    place = Path(PAGES[source])
    lines, figures = list[str](), dict[str, str | bytes]()
    for cell in json.loads((ROOT / source).read_text(encoding="utf-8"))["cells"]:
        text = "".join(cell["source"])
        lines += [text if cell["cell_type"] == "markdown" else f"```python\n{text}\n```", ""]
        for shown in (output["data"] for output in cell.get("outputs", [])):
            if "image/png" in shown:
                name = f"{place.stem}_{cell['id']}.png"
                figures[name] = b64decode(shown["image/png"])
                lines += [f"![Output of the cell above]({name})", ""]
            else:
                plain = "".join(shown["text/plain"])
                lines += ["".join(shown.get("text/html", f"<pre>{plain}</pre>")), ""]
    return {str(place): "\n".join(lines), **figures}


def _gallery() -> Iterator[str]:
    """Yield a row for each film of docs/images: where it is shown, and what makes it."""
    yield "# Gallery\n\n| film | what makes it |\n|---|---|"
    commands = yaml.safe_load((ROOT / "docs/images/films.yaml").read_text(encoding="utf-8"))
    texts = {page.name: page.read_text(encoding="utf-8") for page in ROOT.glob("docs/*.md")}
    for film in sorted(ROOT.glob("docs/images/*.gif")):
        picture = re.compile(rf"!\[([^\]]*)\]\(images/{film.name}\)")
        shown = {page: match[1] for page in sorted(texts) if (match := picture.search(texts[page]))}
        page, words = min(shown.items(), default=("index.md", film.stem))
        lines = "<br>".join(f"`{line}`" for line in commands.get(film.stem, "").splitlines())
        image = f"![{words}](images/{film.name}){{width=320 loading=lazy}}"
        yield f"| {image} | [{words}]({page})<br>{lines} |"

"""Load an SDF file into Drake's plant, with the few changes without which Drake cannot read it.

Drake does not find models that a file includes by a relative path or by the name of their folder:
their paths are made absolute. It refuses <ros2_control>: that is taken out. Nothing else of the
text is changed, since `accord parity` shows what Drake itself makes of a file, and its own words
where it refuses. convert.py and reader.py both take the plant from here.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from logging.handlers import BufferingHandler
from pathlib import Path

from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import MultibodyPlant
from roboaccord.contract import AccordError, read_xml

# The name of an included model in model://NAME; a relative path of one; an element foreign to SDF.
INCLUDED = re.compile(r"(<uri>\s*model://([\w.-]+))/?(?=\s*</uri>)")
RELATIVE = re.compile(r"(<include\b(?:(?!</include).)*?<uri>\s*)([^\s<:]+)(?=\s*</uri>)", re.DOTALL)
FOREIGN = re.compile(r"<ros2_control\b(?:[^>]*/>|.*?</ros2_control\s*>)", re.DOTALL)


def load(
    text: str, path: Path | None, packages: Mapping[str, Path]
) -> tuple[MultibodyPlant, list[str]]:
    """Return the plant of a text in SDF, not finalized, and Drake's warnings.

    Drake reads the file itself if nothing had to be changed, and else the changed text.

    Args:
        text, path, packages: as for `convert`.

    Raises:
        AccordError: if Drake refuses the text, or an included model is not found.
    """
    bare = FOREIGN.sub(_blank, text)
    named = INCLUDED.sub(lambda found: _included(found, packages), bare)
    if path:
        named = RELATIVE.sub(lambda found: _beside(found, path.parent.absolute()), named)
    plant = MultibodyPlant(0.0)
    parser = Parser(plant)
    for name, folder in packages.items():
        if not parser.package_map().Contains(name):
            parser.package_map().Add(name, folder)
    try:
        with heard() as warnings:
            if path and path.suffix == ".sdf" and named == text:
                parser.AddModels(path)
            else:
                parser.AddModelsFromString(named, "sdf")
    except RuntimeError as error:
        raise AccordError(f"Drake refuses it: {first_line(str(error))}") from None
    return plant, warnings


def _included(match: re.Match[str], packages: Mapping[str, Path]) -> str:
    """Return the match of INCLUDED with the file of the model behind its name, as Drake wants it.

    Raises:
        AccordError: if the model is not found.
    """
    folder = packages.get(match[2])
    if folder is None:
        cure = f"--package {match[2]}=DIR, or GZ_SIM_RESOURCE_PATH"
        raise AccordError(f"model {match[2]}, which it includes, is not found: {cure}")
    return f"{match[1]}/{file_of(folder).name}"


def _beside(match: re.Match[str], folder: Path) -> str:
    """Return the match of RELATIVE with the absolute path of the model's file, if there is one."""
    file = file_of(folder / match[2])
    return f"{match[1]}file://{file.resolve()}" if file.is_file() else match[0]


def file_of(model: Path) -> Path:
    """Return the file of a model; in a folder the one that model.config names, or model.sdf."""
    if not model.is_dir():
        return model
    with suppress(AccordError):  # raised if model.config is absent or broken
        return model / (read_xml(model / "model.config").findtext("sdf") or "model.sdf")
    return model / "model.sdf"


def _blank(match: re.Match[str]) -> str:
    """Return as many line ends as a match has, so that the lines below keep their numbers."""
    return "\n" * match[0].count("\n")


def first_line(message: str) -> str:
    """Return the first line of a message of Drake, without file name and line number."""
    return re.sub(r"^\S*\.sdf:\d+: |^\S*: (?=error)", "", (message.splitlines() or [""])[0])


@contextmanager
def heard() -> Iterator[list[str]]:
    """Gather Drake's warnings in the list that is yielded, filled on exit, in place of its log."""
    log, warnings = logging.getLogger("drake"), list[str]()
    handler, propagated, level = BufferingHandler(10_000), log.propagate, log.level
    log.addHandler(handler)
    log.propagate = False
    log.setLevel(logging.WARNING)
    try:
        yield warnings
    finally:
        warnings += [record.getMessage() for record in handler.buffer]
        log.removeHandler(handler)
        log.propagate = propagated
        log.setLevel(level)

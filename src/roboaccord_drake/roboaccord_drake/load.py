"""A text in SDF as Drake's plant: what Drake would not find or take is made ready first.

Places of included models are made absolute, `<ros2_control>` is taken out. Whatever else Drake
refuses must stay, in its own words, for `accord parity` shows what Drake makes of a file.
convert.py and reader.py take the same plant from here. test_sdf.py tests it.
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

INCLUDED = re.compile(r"(<uri>\s*model://([\w.-]+))/?(?=\s*</uri>)")
RELATIVE = re.compile(r"(<include\b(?:(?!</include).)*?<uri>\s*)([^\s<:]+)(?=\s*</uri>)", re.DOTALL)
FOREIGN = re.compile(r"<ros2_control\b(?:[^>]*/>|.*?</ros2_control\s*>)", re.DOTALL)


def load(
    text: str, path: Path | None, packages: Mapping[str, Path]
) -> tuple[MultibodyPlant, list[str]]:
    """Return the plant of a text in SDF, not finalized, and what Drake warns of.

    Drake is given the file as it is, or the text without <ros2_control>, which it rejects, and with
    models that are included by the file that their model.config names, and by the whole path.

    Args:
        text, path, packages: as of `convert`.

    Raises:
        AccordError: where Drake refuses it.
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
    """Return a model's URI with its file, which Drake asks for, by the model.config beside it.

    Raises:
        AccordError: if the model is not found.
    """
    folder = packages.get(match[2])
    if folder is None:
        cure = f"--package {match[2]}=DIR, or GZ_SIM_RESOURCE_PATH"
        raise AccordError(f"model {match[2]}, which it includes, is not found: {cure}")
    return f"{match[1]}/{file_of(folder).name}"


def _beside(found: re.Match[str], folder: Path) -> str:
    """Return a model's URI, relative to a folder, as that of its file, if it is there."""
    file = file_of(folder / found[2])
    return f"{found[1]}file://{file.resolve()}" if file.is_file() else found[0]


def file_of(model: Path) -> Path:
    """Return the file of a model: in its folder the one that its model.config names."""
    if not model.is_dir():
        return model
    with suppress(AccordError):  # of one that is not there, or broken
        return model / (read_xml(model / "model.config").findtext("sdf") or "model.sdf")
    return model / "model.sdf"


def _blank(found: re.Match[str]) -> str:
    """Return the ends of the lines of what is taken out: others keep their number."""
    return "\n" * found[0].count("\n")


def first_line(message: str) -> str:
    """Return the first line of a message of Drake, without the place in a file."""
    return re.sub(r"^\S*\.sdf:\d+: |^\S*: (?=error)", "", (message.splitlines() or [""])[0])


@contextmanager
def heard() -> Iterator[list[str]]:
    """Gather Drake's warnings in place of its log."""
    log, warnings = logging.getLogger("drake"), list[str]()
    handler, spread, level = BufferingHandler(10_000), log.propagate, log.level
    log.addHandler(handler)
    log.propagate = False
    log.setLevel(logging.WARNING)
    try:
        yield warnings
    finally:
        warnings += [record.getMessage() for record in handler.buffer]
        log.removeHandler(handler)
        log.propagate = spread
        log.setLevel(level)

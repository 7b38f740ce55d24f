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

# An included model by the name of its folder, as in `<uri>model://arm</uri>`; group 1 is all but
# the end, group 2 the name.
MODEL_URI = re.compile(r"(<uri>\s*model://([\w.-]+))/?(?=\s*</uri>)")
# An included model by a relative path, as in `<include> ... <uri>parts/arm.sdf</uri>`; group 1 is
# what stands before the path, group 2 the path.
PATH_URI = re.compile(r"(<include\b(?:(?!</include).)*?<uri>\s*)([^\s<:]+)(?=\s*</uri>)", re.DOTALL)
# An element that SDF does not have, and that Drake refuses; empty or with content.
ROS2_CONTROL = re.compile(r"<ros2_control\b(?:[^>]*/>|.*?</ros2_control\s*>)", re.DOTALL)


def load_sdf(
    text: str, path: Path | None, packages: Mapping[str, Path]
) -> tuple[MultibodyPlant, list[str]]:
    """Return the plant of a text in SDF, not finalized, and Drake's warnings.

    Drake reads the file itself if nothing had to be changed, and else the changed text.

    Args:
        text: in SDF.
        path: of the file with this text; None if it is not in a file.
        packages: folders by name, for `model://NAME` and `package://NAME`.

    Raises:
        AccordError: if Drake refuses the text, or an included model is not found.
    """
    changed = ROS2_CONTROL.sub(_line_ends, text)
    changed = MODEL_URI.sub(lambda match: _with_file_name(match, packages), changed)
    if path:
        changed = PATH_URI.sub(lambda match: _with_absolute_path(match, path.parent), changed)
    plant = MultibodyPlant(0.0)
    parser = Parser(plant)
    for name, folder in packages.items():
        if not parser.package_map().Contains(name):
            parser.package_map().Add(name, folder)
    try:
        with gathered_warnings() as warnings:
            if path and path.suffix == ".sdf" and changed == text:
                parser.AddModels(path)
            else:
                parser.AddModelsFromString(changed, "sdf")
    except RuntimeError as error:
        raise AccordError(f"Drake refuses it: {first_line(str(error))}") from None
    return plant, warnings


def _with_file_name(match: re.Match[str], packages: Mapping[str, Path]) -> str:
    """Return a match of MODEL_URI followed by the name of the model's file, as Drake wants it.

    Raises:
        AccordError: if the model is not found.
    """
    folder = packages.get(match[2])
    if folder is None:
        cure = f"--package {match[2]}=DIR, or GZ_SIM_RESOURCE_PATH"
        raise AccordError(f"model {match[2]}, which it includes, is not found: {cure}")
    return f"{match[1]}/{model_file(folder).name}"


def _with_absolute_path(match: re.Match[str], folder: Path) -> str:
    """Return a match of PATH_URI with the absolute path of the model's file, if there is one."""
    file = model_file(folder / match[2])
    return f"{match[1]}file://{file.resolve()}" if file.is_file() else match[0]


def _line_ends(match: re.Match[str]) -> str:
    """Return as many line ends as a match has, so that the lines below keep their numbers."""
    return "\n" * match[0].count("\n")


def model_file(model: Path) -> Path:
    """Return the file of a model: itself, or in a folder the one that model.config names.

    Without a readable model.config that is model.sdf.
    """
    if not model.is_dir():
        return model
    with suppress(AccordError):  # raised if model.config is absent or broken
        return model / (read_xml(model / "model.config").findtext("sdf") or "model.sdf")
    return model / "model.sdf"


def notes_on_text(text: str, path: Path | None, packages: Mapping[str, Path]) -> list[str]:
    """Return where each included model was found, and what was taken out; as for `load_sdf`."""
    names = dict.fromkeys(match[2] for match in MODEL_URI.finditer(text))
    notes = [f"model://{name} is {packages.get(name, '')}" for name in names]
    if path:
        for uri in dict.fromkeys(match[2] for match in PATH_URI.finditer(text)):
            file = model_file((path.parent / uri).resolve())
            notes.append(f"{uri} is {file}; Drake itself looks in the folder in which it runs")
    if ROS2_CONTROL.search(text):
        notes.append("<ros2_control>, which SDF has not, is left out")
    return notes


def first_line(message: str) -> str:
    """Return the first line of a message of Drake, without file name and line number."""
    return re.sub(r"^\S*\.sdf:\d+: |^\S*: (?=error)", "", (message.splitlines() or [""])[0])


@contextmanager
def gathered_warnings() -> Iterator[list[str]]:
    """Yield a list that has Drake's warnings after the block; they are not logged meanwhile."""
    log, warnings = logging.getLogger("drake"), list[str]()
    handler = BufferingHandler(10_000)  # messages: never full
    propagated, level = log.propagate, log.level
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

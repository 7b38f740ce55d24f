"""Worlds for Gazebo: made of a terrain, and any world adapted for a run.

Templates (templates/*.sdf) and colours (WOOD, PLAIN, TINTED) may be changed: run `make shared`
after that, which makes worlds/ and models/ from them. Fixed are GRIP, so large that a robot's own
friction counts, and GROUND_SIZE, that of models/ground.

Each run has its own world: the scenario's physics step and gravity, ground that changes where the
friction law does, no pace, and a window on the robot.
"""

from __future__ import annotations

import hashlib
import math
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path

from roboaccord.contract.checks import NANOSECONDS
from roboaccord.contract.contact import EllipseFriction
from roboaccord.contract.errors import AccordError
from roboaccord.contract.files import read_xml
from roboaccord.description.meshes import FILE
from roboaccord.gazebo.form import cache
from roboaccord.gazebo.window import HALF, add_window
from roboaccord.run.output import make_folder, write_text
from roboaccord.scenario.camera import start_view
from roboaccord.scenario.setup import Setup


def _template(name: str) -> str:
    """Return a template of SDF for `str.format`."""
    return files(__package__).joinpath("templates", name).read_text(encoding="utf-8")


WORLD = _template("world.sdf")
MODEL_CONFIG = _template("model.config")
DETECTOR = """
      <dart>
        <collision_detector>{}</collision_detector>
      </dart>"""
PLUGIN = '    <plugin filename="gz-sim-{}-system" name="gz::sim::systems::{}"/>\n'
GRIP = 100.0  # coefficient of friction; a contact has the smaller of two: that of the robot
STATIC_MODEL = _template("static_model.sdf")
PAINTED = _template("painted.sdf").rstrip()
# Squares of models/ground, whose top is at z = 0; they make motion visible.
SQUARED = _template("squared.sdf").rstrip()
SQUARES = _template("squares.sdf").rstrip()
WOOD = "0.72 0.58 0.40 1"  # of what stands on the ground
PLAIN, TINTED = "1 1 1 1", "0.75 0.85 1 1"  # of the ground, and beyond where its friction changes
MASK = """
            <contact>
              <collide_bitmask>{}</collide_bitmask>
            </contact>"""
GROUND_SIZE = 200.0  # m, of models/ground


def world_text(
    name: str,
    comment: str,
    contents: str,
    *,
    step: float = 1e-3,
    gravity: float = 9.81,
    detector: str = "",
    systems: Mapping[str, str] | None = None,
) -> str:
    """Return a world as SDF 1.9: DART, at most real time, without sensors, so without a GPU.

    Args:
        name: of the world.
        comment: that stands at its top.
        contents: models and includes, in whole lines.
        step: of the physics [s].
        gravity: downwards [m/s^2].
        detector: of contacts; DART's default if empty.
        systems: beside physics, user commands and the scene: library and class by name.
    """
    plugins = "".join(PLUGIN.format(*item) for item in (systems or {}).items())
    return WORLD.format(
        name=name, comment=comment, step=float(step), fall=-float(gravity), plugins=plugins,
        detector=DETECTOR.format(detector) if detector else "", contents=contents,
    )  # fmt: skip


def static_model(
    name: str,
    position: Iterable[float],
    geometry: str,
    *,
    mu: float = GRIP,
    mu2: float = GRIP,
    mask: int | None = None,
    visual: str = "",
) -> str:
    """Return a static body, as a model of a world.

    Args:
        name: of the model.
        position: (3,) [m].
        geometry: the content of the SDF element.
        mu, mu2: coefficients of friction, along and across the direction of what touches it.
        mask: which bodies can touch it, as a bit mask; all if None.
        visual: the content of the SDF element; the painted geometry if empty.
    """
    return STATIC_MODEL.format(
        name=name, place=text_of(position), geometry=geometry, mu=float(mu), mu2=float(mu2),
        mask="" if mask is None else MASK.format(mask),
        visual=visual or PAINTED.format(geometry=geometry, colour=WOOD),
    )  # fmt: skip


def squares(top: float, *, shift: float = 0.0, colour: str = PLAIN) -> str:
    """Return the content of the visual of level ground, with squares that make motion visible.

    Args:
        top: height over the frame of the link [m].
        shift: of its middle along x [m].
        colour: multiplies that of the squares.
    """
    squared = SQUARED.format(colour=colour)
    return SQUARES.format(top=float(top), shift=float(shift), squared=squared)


def box(size: Iterable[float]) -> str:
    """Return the SDF geometry of a box (3,) [m]."""
    return f"<box><size>{text_of(size)}</size></box>"


def text_of(numbers: Iterable[float]) -> str:
    """Return numbers as SDF writes them, with all their digits."""
    return " ".join(repr(float(number)) for number in numbers)


def world_for_run(source: Path, setup: Setup) -> Path:
    """Write a world for a run of a setup, in a cache folder, and return its file.

    The file's physics step is the largest that the world allows: a larger one of the scenario is
    divided. A world without gravity stays so.

    Args:
        source: SDF file of the world.
        setup: robot and scenario.

    Raises:
        AccordError: if the file is not a world, or cannot be what the scenario asks for.
    """
    root, world = _read(source)
    step = _number(world, "physics/max_step_size", source)
    parts = math.ceil(setup.scenario.physics_step / step - 1e-9)
    _set(world, "physics/max_step_size", repr(_whole(setup.scenario.physics_step / parts)))
    _set(world, "physics/real_time_factor", "0.0")
    weight = (world.findtext("gravity") or "0 0 -9.8").split()
    if any(float(word) for word in weight):
        _set(world, "gravity", text_of((0.0, 0.0, -float(setup.parameters.gravity))))
    for uri in world.iter("uri"):  # they are relative to the file
        if uri.text and "://" not in uri.text:
            uri.text = f"{FILE}{(source.parent / uri.text).resolve()}"
    if isinstance(setup.force_law, EllipseFriction) and setup.force_law.beyond.size:
        _split_ground(world, setup.force_law, source)
    add_window(world, start_view(setup, HALF))
    text = ET.tostring(root, encoding="unicode") + "\n"
    folder = cache("worlds") / hashlib.sha256(text.encode()).hexdigest()[:12]
    path = make_folder(folder) / f"{source.stem}.sdf"
    write_text(path, text)
    return path


def _read(path: Path) -> tuple[ET.Element, ET.Element]:
    """Return the root of an SDF file, and its world."""
    root = read_xml(path)
    world = root.find("world")
    if world is None or "name" not in world.attrib:
        raise AccordError(f"{path.name} is not a world: it has no element world with a name")
    return root, world


def physics_of(path: Path) -> tuple[str, float]:
    """Return the name and the physics step [s] of a world.

    Raises:
        AccordError: if it is not a world, or states no step.
    """
    _, world = _read(path)
    return world.attrib["name"], _number(world, "physics/max_step_size", path)


def _number(world: ET.Element, tags: str, path: Path) -> float:
    """Return a positive number of a world, by the tags that lead to it."""
    try:
        value = float(world.findtext(tags, "nan"))
    except ValueError:
        value = math.nan
    if not value > 0:
        raise AccordError(f"{path.name} states no {tags}")
    return value


def _whole(step: float) -> float:
    """Return a step that stays a whole number of nanoseconds when Gazebo truncates it to these."""
    count = round(step * NANOSECONDS)
    if abs(count / NANOSECONDS - step) > 1e-6 * step:
        raise AccordError(f"physics_step: {step!r} s is not a whole number of nanoseconds")
    return count / NANOSECONDS if int(count / NANOSECONDS * 1e9) == count else (count + 0.5) * 1e-9


def _set(world: ET.Element, tags: str, text: str) -> None:
    """Set the text of an element, which is made if it is missing."""
    element = world
    for tag in tags.split("/"):
        child = element.find(tag)
        element = ET.SubElement(element, tag) if child is None else child
    element.text = text


def _split_ground(world: ET.Element, law: EllipseFriction, source: Path) -> None:
    """Replace the ground by two, with the friction of a law before and beyond a line.

    A contact has the smaller coefficient of both surfaces, along and across the robot's link. The
    robot's own are the larger ones of both grounds (`_grip` in form.py).
    """
    line, *beyond = law.beyond.tolist()
    ground = world.find("include[uri='model://ground']")
    half = 0.5 * GROUND_SIZE
    if ground is None or not -half < line < half:
        world_name = f"Gazebo's world {source.stem}"
        raise AccordError(f"friction.beyond: {world_name} has no ground that changes there")
    world.remove(ground)
    plates = (
        ("ground", -half, line, law.mu.tolist(), line - half, PLAIN),
        ("ground_beyond", line, half, beyond, line + half, TINTED),
    )
    for name, start, end, (mu, mu2), middle, colour in plates:
        centre = (0.5 * (start + end), 0.0, -0.5)
        size = box((end - start, GROUND_SIZE, 1.0))
        visual = squares(0.5, shift=middle - centre[0], colour=colour)
        model = static_model(name, centre, size, mu=mu, mu2=mu2, visual=visual)
        world.append(ET.fromstring(model))

"""Worlds for Gazebo: made of a terrain, or any world adapted for a run.

A world is an SDF file, the XML format of Gazebo Sim, with ground, solids, physics settings and the
window. `world_text`, `static_model` and `squares` fill the templates, from which packages make
worlds of their terrains. `world_for_run` adapts a world to a run, in a cache folder: it gets the
scenario's physics step and gravity, ground whose friction changes where that of the friction law
does, the scenario's free bodies, no limit of speed, and a window on the robot. After a change of
templates or colours run `make shared`, which makes worlds/ and models/ again.
"""

from __future__ import annotations

import hashlib
import math
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path

from roboaccord.contract import NANOSECONDS, AccordError, EllipseFriction, read_xml
from roboaccord.contract.contact import CylinderFixture, Fixture, FreeBody
from roboaccord.description.meshes import FILE
from roboaccord.gazebo.obj_files import cache, write_faceted
from roboaccord.gazebo.window import HALF, add_window
from roboaccord.run.output import make_folder, write_text
from roboaccord.scenario import Setup, start_view


def _template(name: str) -> str:
    """Return a template of SDF for `str.format`."""
    return files(__package__).joinpath("templates", name).read_text(encoding="utf-8")


# Templates of a world; of its collision detector, and of a plugin (library, class).
WORLD = _template("world.sdf")
DETECTOR = _template("detector.sdf").rstrip()
PLUGIN = '    <plugin filename="gz-sim-{}-system" name="gz::sim::systems::{}"/>\n'
MODEL_CONFIG = _template("model.config")
# Templates of a static body; of its default visual, and of the bit mask of what can touch it.
STATIC_MODEL = _template("static_model.sdf")
PAINTED = _template("painted.sdf").rstrip()
MASK = _template("mask.sdf").rstrip()
FREE_MODEL = _template("free_model.sdf")  # of a body that moves freely
# The squares of models/ground, which make motion visible: their material, and the visual of level
# ground that has it.
SQUARED = _template("squared.sdf").rstrip()
SQUARES = _template("squares.sdf").rstrip()

# Coefficient of friction of static bodies: so large that the robot's own, the smaller one, counts.
GRIP = 100.0
# Red, green, blue and opacity, chosen by eye: of solids on the ground, of free bodies, and of the
# ground before and beyond a change of friction.
WOOD = "0.72 0.58 0.40 1"
RED = "0.75 0.25 0.20 1"
PLAIN = "1 1 1 1"
TINTED = "0.75 0.85 1 1"
GROUND_SIZE = 200.0  # m: side of models/ground, as its SDF has it; no robot here gets to its edge


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
    """Return a world as SDF 1.9, simulated by DART in real time at most, without sensors.

    Args:
        name: of the world.
        comment: text at its top.
        contents: models and includes, as complete lines.
        step: physics step [s].
        gravity: downwards [m/s^2].
        detector: collision detector; DART's default if empty.
        systems: {library: class} of systems besides physics, user commands and scene.
    """
    return WORLD.format(
        name=name,
        comment=comment,
        step=float(step),
        fall=-float(gravity),
        plugins="".join(PLUGIN.format(*item) for item in (systems or {}).items()),
        detector=DETECTOR.format(detector) if detector else "",
        contents=contents,
    )


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
        position: of the model (3,) [m].
        geometry: content of the SDF element `geometry`.
        mu, mu2: coefficients of friction, along and across the link that touches the body.
        mask: bit mask of the bodies that can touch it; all if None.
        visual: content of the SDF element `visual`; by default the geometry, painted.
    """
    return STATIC_MODEL.format(
        name=name,
        place=text_of(position),
        geometry=geometry,
        mu=float(mu),
        mu2=float(mu2),
        mask="" if mask is None else MASK.format(mask),
        visual=visual or PAINTED.format(geometry=geometry, colour=WOOD),
    )


def squares(top: float, *, shift: float = 0.0, colour: str = PLAIN) -> str:
    """Return the content of the visual of level ground, with squares that make motion visible.

    Args:
        top: height above the frame of the link [m].
        shift: of the middle along x [m].
        colour: by which that of the squares is multiplied.
    """
    squared = SQUARED.format(colour=colour)
    return SQUARES.format(top=float(top), shift=float(shift), squared=squared)


def box(size: Iterable[float]) -> str:
    """Return the SDF geometry of a box (3,) [m]."""
    return f"<box><size>{text_of(size)}</size></box>"


def cylinder(radius: float, length: float) -> str:
    """Return the SDF geometry of a cylinder along z [m]."""
    return f"<cylinder><radius>{radius!r}</radius><length>{length!r}</length></cylinder>"


def text_of(numbers: Iterable[float]) -> str:
    """Return numbers as a text of SDF, with all their digits."""
    return " ".join(repr(float(number)) for number in numbers)


def world_for_run(source: Path, setup: Setup) -> Path:
    """Write a world for a run of a setup, in a cache folder, and return its file.

    If the scenario's physics step is larger than that of the file, it is divided until it is not. A
    world without gravity stays without.

    Args:
        source: SDF file of the world.
        setup: robot and scenario.

    Raises:
        AccordError: if the file is not a world, or cannot be adapted to the scenario.
    """
    root, world = _read_world(source)
    # Step and speed, gravity, paths of models, ground, free bodies, window.
    largest_step = _positive_number(world, "physics/max_step_size", source)
    divisor = math.ceil(setup.scenario.physics_step / largest_step - 1e-9)  # less round-off
    physics_step = _whole_nanoseconds(setup.scenario.physics_step / divisor)
    _set_text(world, "physics/max_step_size", repr(physics_step))
    _set_text(world, "physics/real_time_factor", "0.0")
    gravity = (world.findtext("gravity") or "0 0 -9.8").split()
    if any(float(word) for word in gravity):
        _set_text(world, "gravity", text_of((0.0, 0.0, -float(setup.parameters.gravity))))
    for uri in world.iter("uri"):  # they are relative to the file
        if uri.text and "://" not in uri.text:
            uri.text = f"{FILE}{(source.parent / uri.text).resolve()}"
    if isinstance(setup.force_law, EllipseFriction) and setup.force_law.beyond.size:
        _split_ground(world, setup.force_law, source)
    if setup.bodies:
        _add_bodies(world, setup)
    add_window(world, start_view(setup, HALF))
    text = ET.tostring(root, encoding="unicode") + "\n"
    folder = cache("worlds") / hashlib.sha256(text.encode()).hexdigest()[:12]
    path = make_folder(folder) / f"{source.stem}.sdf"
    write_text(path, text)
    return path


def _read_world(path: Path) -> tuple[ET.Element, ET.Element]:
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
    _, world = _read_world(path)
    return world.attrib["name"], _positive_number(world, "physics/max_step_size", path)


def _positive_number(world: ET.Element, tags: str, path: Path) -> float:
    """Return the positive number at a path of tags in a world, or refuse the world."""
    try:
        value = float(world.findtext(tags, "nan"))
    except ValueError:
        value = math.nan
    if not value > 0:
        raise AccordError(f"{path.name} states no {tags}")
    return value


def _whole_nanoseconds(step: float) -> float:
    """Return a step that Gazebo, which truncates to nanoseconds, does not make shorter.

    Where the nearest double is below a whole number of nanoseconds, half of one is added.
    """
    count = round(step * NANOSECONDS)
    if abs(count / NANOSECONDS - step) > 1e-6 * step:
        raise AccordError(f"physics_step: {step!r} s is not a whole number of nanoseconds")
    return count / NANOSECONDS if int(count / NANOSECONDS * 1e9) == count else (count + 0.5) * 1e-9


def _set_text(world: ET.Element, tags: str, text: str) -> None:
    """Set the text of the element at a path of tags, which is created if it is missing."""
    element = world
    for tag in tags.split("/"):
        child = element.find(tag)
        element = ET.SubElement(element, tag) if child is None else child
    element.text = text


def _add_bodies(world: ET.Element, setup: Setup) -> None:
    """Add the free bodies of a setup to a world; they touch all that can touch anything.

    In Gazebo a contact has the smaller coefficient of its two surfaces, so all models in the world
    get those of the setup's contact.
    """
    for body in setup.bodies:
        world.append(ET.fromstring(_free_model(body)))
    friction = setup.contact.friction if setup.contact else {}
    for model in world.findall("model"):
        if model.attrib["name"] in friction:
            mu = repr(float(friction[model.attrib["name"]]))
            for tag in ("mu", "mu2"):
                _set_text(model, f"link/collision/surface/friction/ode/{tag}", mu)


def _free_model(body: FreeBody) -> str:
    """Return a free body at its start, as a model of a world without friction.

    Args:
        body: its mesh, if it has one, is written to a cache folder.
    """
    shape = body.shape
    if isinstance(shape, Fixture):
        geometry = box(shape.size)
    elif isinstance(shape, CylinderFixture):
        geometry = cylinder(shape.radius, shape.height)
    else:
        digest = hashlib.sha256(shape.vertices.tobytes() + shape.faces.tobytes()).hexdigest()
        path = make_folder(cache("bodies") / digest[:12]) / f"{body.name}.obj"
        write_faceted(path, shape.vertices, shape.faces)
        geometry = f"<mesh><uri>{FILE}{path}</uri></mesh>"
    return FREE_MODEL.format(
        body=body,
        pose=text_of(body.start[:7]),
        inertia=body.inertia.tolist(),
        place=text_of(shape.position),
        geometry=geometry,
        visual=PAINTED.format(geometry=geometry, colour=RED),
    )


def _split_ground(world: ET.Element, law: EllipseFriction, source: Path) -> None:
    """Replace the ground by two plates, with the friction of a law before and beyond a line.

    A contact has the smaller coefficient of its two surfaces, along and across the robot's link.
    The robot itself has the larger ones of both plates (form.py), so those of the plates count.
    """
    line, *mu_beyond = law.beyond.tolist()
    ground = world.find("include[uri='model://ground']")
    edge = 0.5 * GROUND_SIZE
    if ground is None or not -edge < line < edge:
        world_name = f"Gazebo's world {source.stem}"
        raise AccordError(f"friction.beyond: {world_name} has no ground that changes there")
    world.remove(ground)
    world.append(_plate("ground", -edge, line, law.mu.tolist(), line - edge, PLAIN))
    world.append(_plate("ground_beyond", line, edge, mu_beyond, line + edge, TINTED))


def _plate(
    name: str, start: float, end: float, mu: Sequence[float], middle: float, colour: str
) -> ET.Element:
    """Return a plate of ground, 1 m thick, as a model of a world.

    Args:
        name: of the model.
        start, end: of the plate along x [m].
        mu: coefficients of friction along and across the robot's link (2,).
        middle: of the squares along x [m].
        colour: by which that of the squares is multiplied.
    """
    centre = (0.5 * (start + end), 0.0, -0.5)
    size = box((end - start, GROUND_SIZE, 1.0))
    visual = squares(0.5, shift=middle - centre[0], colour=colour)
    return ET.fromstring(static_model(name, centre, size, mu=mu[0], mu2=mu[1], visual=visual))

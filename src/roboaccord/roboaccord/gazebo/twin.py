"""The twin of a robot in Gazebo: DART's time-stepping scheme, and the footing of a level base.

The twin of an engine is our model, computed with the engine's own time-stepping scheme; if both
agree at every tick, the engine solves our equations. Gazebo simulates by DART, so its scheme is
DART's (`_scheme`). A footing is what a level base (form.py) touches the ground with. Where there
can be no twin, the functions raise an error with the reason, and where Gazebo is known to misread a
description (`misplaced`, `misread`) that is stated, too. setup.cfg names `recorded_twin`, for
cross-checks of recorded runs (test_gazebo_twin).
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from roboaccord.contract import AccordError, Array
from roboaccord.description.xml_numbers import numbers
from roboaccord.engines import EngineModel, spec
from roboaccord.engines.spec import Case, EngineSpec, Footing, Scheme
from roboaccord.engines.twin_rounding import ROUNDING
from roboaccord.gazebo.form import LEVEL, describe, is_level
from roboaccord.scenario import Scenario, Setup
from roboaccord.scenario.gazebo_contacts import by_contacts

# rad: for smaller angles a, DART's `math::logMap` returns sin a in place of a.
SINE_LIMIT = 1e-3
# rad: for larger angles a the difference, a^3 / 6, exceeds round-off (1.1e-16).
NOTICEABLE_ANGLE = 1e-5
# Gazebo as an engine; `gazebo_engine` adds the scheme of its twin.
GAZEBO_ENGINE = EngineSpec(name="gz", package="gz-sim", version=lambda: "")


def gazebo_engine(footing: Footing | None) -> EngineSpec:
    """Return Gazebo as an engine with a scheme for its twin; it simulates nothing here."""
    return replace(GAZEBO_ENGINE, scheme=partial(_scheme, footing=footing))


def gazebo_footing(setup: Setup, contacts: str, *, started: bool = False) -> Footing | None:
    """Return what a robot touches the ground with in Gazebo; None if no force law acts.

    Args:
        setup: robot and scenario.
        contacts: one of the robot's `contact_shapes`; the first if empty.
        started: whether Gazebo's joints are at 0 in the initial state, as in a launch (form.py).

    Raises:
        AccordError: stating why there is no twin.
    """
    if setup.robot.switches:
        raise AccordError("in Gazebo magnets hold by constraints of its solver")
    if setup.force_law is None:
        return None
    if not is_level(setup, contacts):
        shape = f"{contacts or 'its shape'}, of which only the contact solver knows the loads"
        raise AccordError(f"in Gazebo {setup.robot.name} touches the ground with {shape}")
    if links := misplaced(setup, started=started):
        rotation = f"turned by less than {SINE_LIMIT:g} rad"
        raise AccordError(f"Gazebo misplaces {links[0]}, which starts {rotation}")
    return footing_of(describe(setup, contacts))


def misplaced(setup: Setup, *, started: bool) -> list[str]:
    """Return the links that Gazebo builds with another rotation than the description states.

    It builds each link in a free joint. For a rotation by an angle a below SINE_LIMIT, DART's
    `math::logMap` returns sin a in place of a, which is smaller by a^3 / 6.

    Args:
        setup: robot and scenario.
        started: whether Gazebo's joints are at 0 in the initial state, as in a launch (form.py).
    """
    q = setup.initial.q if started else np.zeros(len(setup.joints))
    pose = setup.initial.position, setup.initial.orientation
    _, rotations = setup.tree.forward(setup.joints, q, *pose)
    # For a rotation R by the angle a, |R - R'| = sqrt(8) sin a.
    sines = np.array([np.linalg.norm(r - r.T) for r in rotations]) / np.sqrt(8.0)
    indices = np.flatnonzero((sines > NOTICEABLE_ANGLE) & (sines < SINE_LIMIT))
    return [setup.tree.links[i].name for i in indices.tolist()]


@dataclass(frozen=True, kw_only=True)
class RecordedGazebo(EngineSpec):
    """Gazebo as it made a recorded run; fields as the arguments of `gazebo_footing`."""

    contacts: str
    started: bool

    def case(self, setup: Setup) -> Case:
        """Return the data for the twin of a setup as it was run."""
        return gazebo_case(setup, self.contacts, started=self.started)


def recorded_twin(contacts: str, *, started: bool) -> EngineSpec:
    """Return Gazebo as it made a recorded run; arguments as of `gazebo_footing`."""
    return RecordedGazebo.of(GAZEBO_ENGINE, contacts=contacts, started=started)


def gazebo_case(setup: Setup, contacts: str, *, started: bool = False) -> Case:
    """Return what the twin of a setup in Gazebo is made of.

    Arguments and errors are those of `gazebo_footing`.
    """
    footing = gazebo_footing(setup, contacts, started=started)
    misreadings = misread(setup, contacts, started=started)
    law = by_contacts(setup, contacts)[0]
    return Case(law, gazebo_engine(footing), misreadings, footing)


def on_ground(setup: Setup, contacts: str) -> Setup:
    """Return a setup with the friction of Gazebo's contacts, and its controller unchanged.

    A controller that uses the friction still uses that of the scenario.
    """
    on_contacts, changed = by_contacts(setup, contacts)
    if not changed:
        return setup
    data = on_contacts.scenario.data()
    data["controller"]["friction"] = setup.assumed.scenario.data()["friction"]
    return Setup.of(Scenario(**data))


def _scheme(model: EngineModel, footing: Footing | None) -> Scheme:
    """Return DART's scheme, with the damping of joints that DART has in Gazebo.

    Raises:
        AccordError: for dry friction of joints, which a scheme cannot have.
    """
    if model.friction and model.friction.any_dry:
        raise AccordError("in Gazebo dry friction of joints is a constraint of its solver")
    scheme = spec("dart").scheme
    assert scheme
    return replace(scheme(model), damping=True, footing=footing)


def misread(setup: Setup, contacts: str, *, started: bool) -> Array:
    """Return the errors with which Gazebo may read the origins of the joints (n,) [rad].

    Gazebo stores a rotation as a quaternion and reads pitch from it by an arcsine, whose round-off
    grows as 1 / cos(pitch). Arguments are those of `gazebo_footing`.
    """
    root = ET.fromstring(describe(setup, contacts, started=started))
    errors = np.zeros(len(setup.joints))
    for joint in root.findall("joint"):
        _roll, pitch, _yaw = numbers(joint.find("origin"), "rpy").tolist()
        if pitch and joint.attrib["name"] in setup.joints:
            error = 2.0 * ROUNDING / max(abs(np.cos(pitch)), np.sqrt(ROUNDING))
            errors[setup.joints.index(joint.attrib["name"])] = error
    return errors


def footing_of(urdf: str) -> Footing:
    """Return the footing of a robot with a level base, from its description for Gazebo."""
    root = ET.fromstring(urdf)
    sphere = root.find("link[@name='base_link']/collision/geometry/sphere")
    assert sphere is not None
    # Masses of the links that carry the base along x, y and z; each carries those that follow.
    children = {j.attrib["name"]: j.findtext("child") for j in root.iterfind("gazebo/joint")}
    carriages = [root.find(f"gazebo/link[@name='{children[name]}']") for name in LEVEL[:3]]
    masses = [float(link.findtext("inertial/mass", "")) for link in carriages if link is not None]
    x, y, z = np.cumsum(masses[::-1])[::-1].tolist()
    return Footing(float(sphere.attrib["radius"]), (x, y, z))

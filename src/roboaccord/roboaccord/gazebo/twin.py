"""What the twin of a robot in Gazebo needs: DART's scheme, and what a level base stands on.

To state what another version of Gazebo does otherwise than DART, change `_scheme` or `misplaced`.
SEEN may be tuned: the turn from which DART's error is more than round-off; CUT is fixed in DART
(`math::logMap`). The ground in Gazebo is in `by_contacts` (scenario/setup.py). test_gazebo_twin
holds a recorded run. setup.cfg names `recorded_twin`.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Array
from roboaccord.engines import spec
from roboaccord.engines.model import EngineModel
from roboaccord.engines.spec import Case, EngineSpec, Footing, Scheme
from roboaccord.engines.twin_rounding import ROUNDING
from roboaccord.gazebo.form import LEVEL, describe, is_level
from roboaccord.scenario.scenario import Scenario
from roboaccord.scenario.setup import Setup, by_contacts


def gazebo_engine(footing: Footing | None) -> EngineSpec:
    """Return Gazebo as an engine that has a twin, and simulates nothing here."""
    return replace(GAZEBO_ENGINE, scheme=partial(_scheme, footing=footing))


def gazebo_footing(setup: Setup, contacts: str, *, started: bool = False) -> Footing | None:
    """Return what a robot touches the ground with in Gazebo; None where no force law acts.

    Args:
        setup: robot and scenario.
        contacts: one of the robot's `contact_shapes`; the first if empty.
        started: whether the server has built the robot where the setup starts; see `form`.

    Raises:
        AccordError: with the reason why there is no twin.
    """
    if setup.robot.switches:
        raise AccordError("in Gazebo magnets hold by constraints of its solver")
    if setup.force_law is None:
        return None
    if not is_level(setup, contacts):
        by = f"{contacts or 'its shape'}, of which only the contact solver knows the loads"
        raise AccordError(f"in Gazebo {setup.robot.name} touches the ground with {by}")
    if links := misplaced(setup, started=started):
        turned = f"turned by less than {CUT:g} rad"
        raise AccordError(f"Gazebo misplaces {links[0]}, which starts {turned}")
    return footing_of(describe(setup, contacts))


def misplaced(setup: Setup, *, started: bool) -> list[str]:
    """Return the links that Gazebo builds with another turn than they are to have.

    It builds each in a free joint, whose coordinates DART takes as the sine of an angle below `CUT`
    (`math::logMap`): a third of its cube, divided by two, is lost.

    Args:
        setup: robot and scenario.
        started: whether the joints are at 0 where the setup starts; else where all are at 0.
    """
    q = setup.initial.q if started else np.zeros(len(setup.joints))
    place = setup.initial.position, setup.initial.orientation
    turns = setup.tree.forward(setup.joints, q, *place)[1]
    sines = np.array([np.linalg.norm(turn - turn.T) for turn in turns]) / np.sqrt(8.0)
    off = (sines > SEEN) & (sines < CUT)
    return [link.name for link, wrong in zip(setup.tree.links, off, strict=True) if wrong]


CUT, SEEN = 1e-3, 1e-5  # rad; from the latter on the loss is more than round-off
GAZEBO_ENGINE = EngineSpec(name="gz", package="gz-sim", version=lambda: "")
"""Gazebo as an engine that has a twin, and simulates nothing here."""


@dataclass(frozen=True, kw_only=True)
class RecordedGazebo(EngineSpec):
    """Gazebo as it made a recorded run: with a twin where there can be one; arguments as above."""

    contacts: str
    started: bool

    def case(self, setup: Setup) -> Case:
        return gazebo_case(setup, self.contacts, started=self.started)


def recorded_twin(contacts: str, *, started: bool) -> EngineSpec:
    """Return Gazebo as it made a recorded run; arguments as above."""
    return RecordedGazebo.of(GAZEBO_ENGINE, contacts=contacts, started=started)


def gazebo_case(setup: Setup, contacts: str, *, started: bool = False) -> Case:
    """Return what Gazebo's twin is made of; arguments and errors as of `gazebo_footing`."""
    footing = gazebo_footing(setup, contacts, started=started)
    misreadings = misread(setup, contacts, started=started)
    law = by_contacts(setup, contacts)[0]
    return Case(law, gazebo_engine(footing), misreadings, footing)


def on_ground(setup: Setup, contacts: str) -> Setup:
    """Return a setup with the law and the steps of Gazebo's contacts; its controller stays.

    A controller that knows the friction is to know what it knows without them.
    """
    laid, known = by_contacts(setup, contacts)
    if not known:
        return setup
    data = laid.scenario.data()
    data["controller"]["friction"] = setup.assumed.scenario.data()["friction"]
    return Setup.of(Scenario(**data))


def _scheme(model: EngineModel, footing: Footing | None) -> Scheme:
    """Return DART's scheme; in Gazebo DART damps the joints itself.

    Raises:
        AccordError: for dry friction of joints.
    """
    if model.friction and model.friction.any_dry:
        raise AccordError("in Gazebo dry friction of joints is a constraint of its solver")
    dart_scheme = spec("dart").scheme
    assert dart_scheme
    return replace(dart_scheme(model), damping=True, footing=footing)


def misread(setup: Setup, contacts: str, *, started: bool) -> Array:
    """Return by how much Gazebo may misread the joints' origins (n,) [rad]; arguments as above.

    It keeps a rotation as a quaternion, from which pitch is read by an arcsine, whose rounding is
    the larger the nearer pitch is to 90 degrees.
    """
    origins = {
        joint.attrib["name"]: joint.find("origin")
        for joint in ET.fromstring(describe(setup, contacts, started=started)).findall("joint")
    }
    found = np.zeros(len(setup.joints))
    for i, name in enumerate(setup.joints):
        origin = origins[name]
        if origin is not None and (pitch := float(origin.get("rpy", "0 0 0").split()[1])):
            found[i] = 2.0 * ROUNDING / max(abs(np.cos(pitch)), np.sqrt(ROUNDING))
    return found


def footing_of(urdf: str) -> Footing:
    """Return with what a level robot touches the ground, by its description for Gazebo."""
    root = ET.fromstring(urdf)
    sphere = root.find("link[@name='base_link']/collision/geometry/sphere")
    assert sphere is not None
    masses = {
        link.attrib["name"]: float(mass.text or 0.0)
        for link in root.iterfind("gazebo/link")
        if (mass := link.find("inertial/mass")) is not None
    }
    children = {
        joint.attrib["name"]: joint.findtext("child", "") for joint in root.iterfind("gazebo/joint")
    }
    carriages = [masses[children[name]] for name in LEVEL[:3]]
    x, y, z = np.cumsum(carriages[::-1])[::-1].tolist()  # each carries those after it
    return Footing(float(sphere.attrib["radius"]), (x, y, z))

"""What the twin of a robot in Gazebo has to know: DART's scheme, and what a level base rests on."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np

from roboaccord.contract.errors import AccordError
from roboaccord.engines import spec
from roboaccord.engines.model import EngineModel
from roboaccord.engines.spec import EngineSpec, Footing, Scheme
from roboaccord.gazebo.form import LEVEL, describe, is_level
from roboaccord.scenario.setup import Setup


def gazebo_engine(setup: Setup, contacts: str) -> EngineSpec:
    """Return Gazebo as an engine that has a twin, and simulates nothing here.

    Args:
        setup: robot and scenario.
        contacts: one of the robot's `contact_shapes`; the first if empty.

    Raises:
        AccordError: with the reason why there is no twin.
    """
    if setup.robot.switches:
        raise AccordError("Gazebo's magnets hold by joints that its contact solver closes")
    footing = None
    if setup.force_law is not None:
        if not is_level(setup, contacts):
            raise AccordError(
                f"{setup.robot.name} rests on {contacts or 'its links'} in Gazebo, whose loads "
                "only its contact solver knows"
            )
        footing = footing_of(describe(setup, contacts))
    return EngineSpec(
        name="gz",
        package="gz-sim",
        version=lambda: "",
        scheme=_scheme,
        footing=footing,
    )


def _scheme(model: EngineModel) -> Scheme:
    """Return DART's scheme; in Gazebo DART damps the joints itself."""
    found = spec("dart").scheme
    assert found
    return replace(found(model), damping=True)


def footing_of(urdf: str) -> Footing:
    """Return with what a level robot touches the ground, as its description for Gazebo says."""
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

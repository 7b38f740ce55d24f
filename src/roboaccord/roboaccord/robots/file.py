"""A robot that is a file, such as URDF or xacro: `accord run FILE.urdf` finds it by its path.

What a file lacks is given by parameters: those are in config/parameters.yaml of roboaccord, to
which another may be added and used here. OFF, STILL and FAR may be tuned; OFF and STILL decide that
a robot which would stay balanced starts beside its balance. That there is no contact, and
`base_link` is the root, is fixed: robots with contact need a package. What is taken or left out of
a file is reported by `remarks`: add a line there with each such change (test_any_robot).
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from roboaccord.contract.errors import AccordError
from roboaccord.contract.interfaces import AnyEngine
from roboaccord.contract.state import Array, RobotState
from roboaccord.description.base_kinds import KINDS
from roboaccord.description.broken import check_description
from roboaccord.description.degrees import floating_root, single_degrees
from roboaccord.description.dynamics import TreeDynamics
from roboaccord.description.rotors import rotor_inertias
from roboaccord.description.tree import Tree, rotors_of
from roboaccord.description.urdf_file import ROOT, UrdfFile, check_urdf, robot_name, strip
from roboaccord.engines import simulate_model
from roboaccord.engines.formats import read_robot
from roboaccord.engines.model import EngineModel
from roboaccord.robots.controllers import Posture, Random, Sine, inertias
from roboaccord.scenario.setup import Robot, Setup
from roboaccord.simulators.base import Simulator
from roboaccord.simulators.friction import JointFriction
from roboaccord.simulators.reference import TreeReference

FAR = 1e9  # m; the stops of a slide that has none
OFF = 0.1  # rad or m from a balance to where a motion starts
STILL = 1e-9  # rad/s^2 or m/s^2


class FileRobot(Robot):
    """A robot that has no package: it is all in its file, and scenarios are the core's own.

    Its root link is called `base_link` here, whatever the file calls it. There is no contact. A
    joint that mimics another is free, or by `parameters.mimic` held to it: exactly in the
    reference, in each engine by a law of its own.

    Args:
        path: of the file.
        text: URDF of a recorded run; then neither the file nor what it names is looked for.
        name: of a recorded run's topics.

    Raises:
        AccordError: if it cannot be read.
    """

    package = "roboaccord"
    controllers = {"pd": Posture, "sine": Sine, "random": Random}

    def __init__(self, path: Path, text: str | None = None, name: str = "") -> None:
        super().__init__()
        self.path, self._text = path.absolute(), text
        self.name = name or robot_name(self.path)
        self.summary = f"of {self.path}"
        self._files = dict[tuple[tuple[str, str], ...], UrdfFile]()
        self._floats, self._away = False, False

    @property
    def key(self) -> str:
        return str(self.path)

    def file(self, setup: Setup) -> UrdfFile:
        """Return the file, with the packages and arguments that the scenario names.

        Its joints have one degree of freedom at most (`single_degrees`).
        """
        if self._text is not None:
            return _untied(check_urdf(self.path, self._text, {}))
        packages, arguments = setup.scenario.packages, setup.scenario.arguments
        key = (*packages.items(), ("", ""), *arguments.items())
        if key not in self._files:
            folders = {name: Path(folder) for name, folder in packages.items()}
            found = read_robot(self.path, folders, arguments)
            self._floats = floating_root(ET.fromstring(found.text))[0] is not None
            self._files[key] = replace(found, text=single_degrees(found.text))
        return self._files[key]

    def floats(self, setup: Setup) -> bool:
        self.file(setup)
        return self._floats

    def own_names(self, setup: Setup) -> Mapping[str, str]:
        return {new: old for old, new in self.file(setup).new_names().items() if old != new}

    def ranges(self, setup: Setup) -> dict[str, tuple[float, float]]:
        """Return the limits of the moving joints in the file; of continuous ones none."""
        file = self.file(setup)
        tree = Tree.parse(file.rooted(file.stripped())[0], self.path.name)
        return {joint.name: joint.ends for joint in tree.moving}

    def description(self, setup: Setup, base: str, more: Mapping[str, str]) -> tuple[str, str]:
        """Return the file's URDF as it is simulated, with its meshes, and the file's name."""
        if base == "ball":
            raise AccordError("base is ball; a robot of a file takes fixed, planar or free")
        file, source = self.file(setup), self.path.name
        if file.lacks:
            what = f"{file.lacks[0]}, which this simulation has not: it would move otherwise"
            raise AccordError(f"{source} has {what}")
        check_description(file)
        top = ET.fromstring(file.rooted("" if self._text else file.resolved())[0])
        for joint in top.findall("joint"):
            for mimic in joint.findall("mimic") if not setup.parameters.mimic else ():
                joint.remove(mimic)
            if not setup.parameters.stops:
                _leave_out_stops(joint)
        for each in top.findall("transmission") if not setup.parameters.armature else ():
            top.remove(each)
        if KINDS[base].tied:
            top.append(ET.Element("link", name="world"))
            tie = ET.SubElement(top, "joint", name="world_to_base_link", type=base)
            ET.SubElement(tie, "parent", link="world")
            ET.SubElement(tie, "child", link=ROOT)
            ET.SubElement(tie, "axis", xyz="0 0 1")
        return ET.tostring(top, encoding="unicode"), source

    def joints(self, setup: Setup) -> tuple[str, ...]:
        return tuple(joint.name for joint in setup.tree.moving)

    def effort_limits(self, setup: Setup) -> Array:
        return np.array([joint.effort for joint in setup.tree.moving])

    def initial(self, setup: Setup, state: RobotState) -> RobotState:
        """Put joints whose range excludes 0 in its middle, unless the scenario places them."""
        given = {*setup.scenario.initial.q, *(f.joint for f in setup.faults if f.angle is not None)}
        ranges = self.ranges(setup)
        q, self._away = np.array(state.q), False
        for i, name in enumerate(setup.joints):
            lower, upper = ranges[name]
            if name not in given and not lower < 0.0 < upper:
                ends = [end for end in (lower, upper) if np.isfinite(end)]
                q[i] += sum(ends) / len(ends)
        if not given and not state.qd.any() and self.balances(setup, q):
            self._away = True
            room = [min(OFF, 0.25 * (ranges[name][1] - at)) for name, at in zip(setup.joints, q)]
            q += room
        leads, offset = setup.tree.independent(setup.joints)
        free = [not joint.mimic for joint in setup.tree.moving]
        return replace(state, q=leads @ q[free] + offset, qd=leads @ state.qd[free])

    def balances(self, setup: Setup, q: Array) -> bool:
        """Return whether nothing would move from rest at positions (n,): no force acts, by gravity.

        Not asked where a controller acts, or the base moves.
        """
        scenario, gravity = setup.scenario, setup.parameters.gravity
        if scenario.controller.get("name", "none") != "none" or scenario.base != "fixed":
            return False
        try:
            law = TreeDynamics(setup.tree, setup.joints, "fixed", gravity)
        except AccordError:  # which the reference reports
            return False
        at = np.zeros(3), np.eye(3)
        forces, moments = law.gravity_forces(q, *at), np.diag(law.mass_matrix(q, *at))
        return bool(q.size and gravity and (np.abs(forces) < STILL * moments).all())

    def reference(self, setup: Setup) -> Simulator:
        return TreeReference(setup, friction_of(setup))

    def engine(self, setup: Setup, engine: AnyEngine) -> Simulator:
        """Make an engine's simulator of the description without its geometry."""
        bare, friction = _without_frames(strip(setup.urdf())), friction_of(setup)
        model = EngineModel.of(setup, urdf=bare, friction=friction)
        return simulate_model(model, engine)

    def _rotors(self, setup: Setup) -> dict[str, str]:
        """Return of how many joints rotors add to the inertia, and their largest share."""
        found = rotor_inertias(ET.fromstring(self.file(setup).text))
        own = [name for name, inertia in found.items() if inertia and name in setup.joints]
        if not own:
            return {}
        if not setup.parameters.armature:
            left = f"of {len(own)} joints: left out; --set parameters.armature=1 puts it in"
            return {"rotor inertia": left}
        shares = rotors_of(setup.tree, setup.joints) / inertias(setup)
        most = int(np.argmax(shares))
        share = f"up to {100.0 * shares[most]:.3g} % of what {setup.joints[most]} moves"
        return {"rotor inertia": f"of {len(own)} joint{'s' * (len(own) > 1)}: acts, {share}"}

    def remarks(self, setup: Setup) -> Mapping[str, str]:
        """Return what of the file is taken, what is not, and how the base is held."""
        file, p = self.file(setup), setup.parameters
        mimic = [
            str(joint.get("name"))
            for joint in ET.fromstring(file.text).findall("joint")
            if joint.find("mimic") is not None
        ]
        held = {"fixed": "fixed to the world; --base free lets it move", "free": "free"}
        base = setup.scenario.base
        names = [
            f"{new} is {old} in the file" for old, new in file.new_names().items() if old != new
        ]
        called = f" ({', '.join(names)})" if names else ""
        found = {"contact": "none: there is no ground, and what is drawn touches nothing"}
        found["base"] = f"the root link{called} is {held.get(base, base)}"
        if setup.initial.q.any() and self._away:
            found["start"] = f"joints are moved {OFF:g} rad or m away from an equilibrium"
        stops = sum(np.inf not in map(abs, each) for each in self.ranges(setup).values())
        viscous = sum(joint.damping > 0 for joint in setup.tree.moving)
        dry = sum(joint.friction > 0 for joint in setup.tree.moving)
        servos = sum(any(joint.servo) for joint in setup.tree.moving)
        springs = sum(joint.spring[0] > 0 for joint in setup.tree.moving)
        omitted = (
            ("joint stops", stops, p.stops, "--set parameters.stops=1 puts them in"),
            ("damping", viscous, p.damping, "--set parameters.damping=1 puts it in"),
            ("springs", springs, p.springs, "--set parameters.springs=1 puts them in"),
            ("actuators", servos, p.actuators, "--set parameters.actuators=1: they hold the start"),
            ("dry friction", dry, p.dry_friction, "--set parameters.dry_friction=1"),
        )
        for name, count, taken, how in omitted:
            if count:
                state = "acts" if taken else f"left out; {how}"
                found[name] = f"of {count} joint{'s' * (count > 1)}: {state}"
        found |= self._rotors(setup)
        if mimic:
            how = "free; --set parameters.mimic=1 holds them to what they mimic"
            if p.mimic:
                how = "exact in the reference, in engines by laws of their own"
            found["mimic"] = f"{', '.join(mimic)}: {how}"
        if file.notes:
            found["file"] = "; ".join(file.notes)
        return found


def friction_of(setup: Setup) -> JointFriction | None:
    """Return friction and springs that the file has and the scenario takes, or None."""
    p, moving = setup.parameters, setup.tree.moving
    servo, damped = p.actuators * np.array([joint.servo for joint in moving]).reshape(-1, 2).T
    viscous = p.damping * np.array([joint.damping for joint in moving]) + damped
    dry = p.dry_friction * np.array([joint.friction for joint in moving])
    stiffness, slack = np.array([joint.spring for joint in moving]).reshape(-1, 2).T
    stiffness = p.springs * stiffness
    whole = stiffness + servo  # which holds the start
    slack = (stiffness * slack + servo * setup.initial.q) / np.where(whole, whole, 1.0)
    spring = (whole, slack) if whole.any() else None
    if not (viscous.any() or dry.any() or spring):
        return None
    return JointFriction(viscous, dry, p.friction_speed, spring=spring)


def _untied(file: UrdfFile) -> UrdfFile:
    """Return a recorded robot without what tied its base to the world."""
    top = ET.fromstring(file.text)
    for each in top.findall("joint/parent[@link='world']/..") + top.findall("link[@name='world']"):
        top.remove(each)
    return replace(file, text=ET.tostring(top, encoding="unicode"))


def _leave_out_stops(joint: ET.Element) -> None:
    if joint.get("type") == "revolute":
        joint.set("type", "continuous")
    for limit in joint.findall("limit"):
        for end, value in (("lower", -FAR), ("upper", FAR)):
            if joint.get("type") == "prismatic":
                limit.set(end, repr(value))  # without limits, readers take them for 0
            else:
                limit.attrib.pop(end, None)


def _without_frames(urdf: str) -> str:
    """Return a URDF without the links that have no inertia, are fixed and carry nothing.

    They change no motion; DART warns of each.
    """
    top, tree = ET.fromstring(urdf), Tree.parse(urdf)
    heavy = {link.name for link in tree.links if link.mass or link.inertia.any()}
    kept = {ROOT, "world", *heavy}
    for each in reversed(tree.joints):
        if each.child in kept or each.kind != "fixed":
            kept |= {each.parent, each.child}
    for link in top.findall("link"):
        if link.get("name") not in kept:
            top.remove(link)
    for joint in top.findall("joint"):
        if any(end.get("link") not in kept for end in joint.findall("child")):
            top.remove(joint)
    return ET.tostring(top, encoding="unicode")

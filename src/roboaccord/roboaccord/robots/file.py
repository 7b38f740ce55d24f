"""A robot that is a file, such as URDF or xacro: `accord run FILE.urdf` finds it by its path.

What a file does not state comes from parameters, in config/parameters.yaml of roboaccord; another
may be added there and used here. OFF and STILL may be tuned: they decide that a robot which would
stay balanced starts beside its balance. Fixed: there is no contact, for which a robot needs a
package, and the root is `base_link`. The file's text is changed in urdf_changes.py, which
remarks.py reports (test_any_robot).
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
from roboaccord.description.broken import check_description
from roboaccord.description.degrees import floating_root, single_degrees
from roboaccord.description.dynamics import TreeDynamics
from roboaccord.description.tree import Tree
from roboaccord.description.urdf_file import UrdfFile, check_urdf, robot_name, strip
from roboaccord.engines import simulate_model
from roboaccord.engines.formats import read_robot
from roboaccord.engines.model import EngineModel
from roboaccord.robots.controllers import Posture, Random, Sine
from roboaccord.robots.joint_friction import friction_of
from roboaccord.robots.remarks import remarks_on_file
from roboaccord.robots.urdf_changes import as_simulated, without_frames, without_tie
from roboaccord.scenario.robot_file import RobotFile
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Simulator
from roboaccord.simulators.reference import TreeReference

OFF = 0.1  # rad or m from an equilibrium to where a motion starts; a quarter of the room if less
STILL = 1e-9  # rad/s^2 or m/s^2: accelerations below it are round-off of forces that cancel


class FileRobot(RobotFile):
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
            return without_tie(check_urdf(self.path, self._text, {}))
        packages, arguments = setup.scenario.packages, setup.scenario.arguments
        key = (*packages.items(), ("", ""), *arguments.items())
        if key not in self._files:
            folders = {name: Path(folder) for name, folder in packages.items()}
            file = read_robot(self.path, folders, arguments)
            self._floats = floating_root(ET.fromstring(file.text))[0] is not None
            self._files[key] = replace(file, text=single_degrees(file.text))
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
            what = f"{file.lacks[0]}, which this simulation does not have: it would move otherwise"
            raise AccordError(f"{source} has {what}")
        check_description(file)
        text = file.rooted("" if self._text else file.resolved())[0]
        return as_simulated(text, setup.parameters, base), source

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
        """Return whether gravity would move nothing from rest at positions (n,) [rad or m].

        False where a controller acts or the base moves, which nobody has to balance.
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
        bare, friction = without_frames(strip(setup.urdf())), friction_of(setup)
        model = EngineModel.of(setup, urdf=bare, friction=friction)
        return simulate_model(model, engine)

    def remarks(self, setup: Setup) -> Mapping[str, str]:
        moved = OFF if self._away else 0.0
        return remarks_on_file(setup, self.file(setup), self.ranges(setup), moved)

"""A robot that is only a file, such as URDF or xacro: `accord run FILE.urdf` simulates it.

`FileRobot` implements the interface of every robot (scenario/robot.py) from the file alone: its
description, joints, limits and initial state. Parameters that a file does not state, such as
gravity, are in config/parameters.yaml of roboaccord. Before a simulation the URDF is changed by
urdf_changes.py, and remarks.py informs the user of these changes. Contacts require a robot with a
package of its own.

A robot in exact balance would never move, so that its run would show nothing. It starts
BALANCE_OFFSET away from its balance instead. The constants may be tuned; the root link must be
called `base_link`.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from roboaccord.contract import AccordError, AnyEngine, Array, RobotState
from roboaccord.description.broken import check_description
from roboaccord.description.degrees import floating_root, single_degrees
from roboaccord.description.dynamics import TreeDynamics
from roboaccord.description.tree import Tree
from roboaccord.description.urdf_file import UrdfFile, check_urdf, robot_name, strip
from roboaccord.engines import EngineModel, simulate_model
from roboaccord.engines.formats import read_robot
from roboaccord.robots.controllers import Posture, Random, Sine
from roboaccord.robots.joint_friction import friction_of
from roboaccord.robots.remarks import remarks_on_file
from roboaccord.robots.urdf_changes import as_simulated, without_frames, without_tie
from roboaccord.scenario import RobotFile, Setup
from roboaccord.simulators.base import Simulator
from roboaccord.simulators.reference import TreeReference

# [rad or m] Distance of the initial state from a balance, if the range of the joint allows it: 6
# degrees are visible, and the robot then moves within a second.
BALANCE_OFFSET = 0.1
# Largest offset as a fraction of the distance to the upper stop, most of which remains.
LARGEST_SHARE = 0.25
# [rad/s^2 or m/s^2] Smaller accelerations are the round-off of forces in balance.
ROUND_OFF_ACCELERATION = 1e-9


class FileRobot(RobotFile):
    """A robot that is described by its file alone; its scenarios are those of the core.

    Its root link is called `base_link` here, whatever the file calls it. There is no contact. A
    joint that mimics another moves freely, or, with `parameters.mimic`, follows it: exactly in the
    reference, and in each engine by the constraint that the engine has for it.

    Args:
        path: path of the file.
        text: URDF of a recorded run; then neither the file nor the meshes in it are read.
        name: name of the robot in the topics of a recorded run; by default that in the file.

    Raises:
        AccordError: if the file cannot be read.
    """

    package = "roboaccord"
    controllers = {"pd": Posture, "sine": Sine, "random": Random}

    def __init__(self, path: Path, text: str | None = None, name: str = "") -> None:
        super().__init__()
        self.path, self._text = path.absolute(), text
        self.name = name or robot_name(self.path)
        self.summary = f"of {self.path}"
        self._files = dict[object, UrdfFile]()  # by packages and xacro arguments
        self._has_floating_base, self._is_moved_from_balance = False, False

    @property
    def key(self) -> str:
        """The path, by which robots of files are told apart."""
        return str(self.path)

    def file(self, setup: Setup) -> UrdfFile:
        """Return the file, read with the packages and xacro arguments that the scenario names.

        It is read once for each set of them. Joints of several degrees of freedom, such as planar
        ones, are split into joints of one (`single_degrees`).
        """
        if self._text is not None:
            return without_tie(check_urdf(self.path, self._text, {}))
        packages, arguments = setup.scenario.packages, setup.scenario.arguments
        key = tuple(packages.items()), tuple(arguments.items())
        if key not in self._files:
            folders = {name: Path(folder) for name, folder in packages.items()}
            file = read_robot(self.path, folders, arguments)
            self._has_floating_base = floating_root(ET.fromstring(file.text))[0] is not None
            self._files[key] = replace(file, text=single_degrees(file.text))
        return self._files[key]

    def floats(self, setup: Setup) -> bool:
        """Return whether the file itself lets its root float."""
        self.file(setup)
        return self._has_floating_base

    def own_names(self, setup: Setup) -> Mapping[str, str]:
        """Return the file's own names of links that are called otherwise here."""
        return {new: old for old, new in self.file(setup).new_names().items() if old != new}

    def ranges(self, setup: Setup) -> dict[str, tuple[float, float]]:
        """Return the limits of the moving joints in the file [rad or m]; infinite without stops."""
        file = self.file(setup)
        tree = Tree.parse(file.rooted(file.stripped())[0], self.path.name)
        return {joint.name: joint.ends for joint in tree.moving}

    def description(self, setup: Setup, base: str, more: Mapping[str, str]) -> tuple[str, str]:
        """Return the file's URDF as it is simulated, with its meshes, and the file's name."""
        if base == "ball":
            raise AccordError("base is ball; a robot of a file takes fixed, planar or free")
        file, source = self.file(setup), self.path.name
        if file.lacks:
            feature = f"{file.lacks[0]}, which this simulation does not have"
            raise AccordError(f"{source} has {feature}: it would move otherwise")
        check_description(file)
        text = file.rooted("" if self._text else file.resolved())[0]
        return as_simulated(text, setup.parameters, base), source

    def joints(self, setup: Setup) -> tuple[str, ...]:
        """Return the names of the joints that move."""
        return tuple(joint.name for joint in setup.tree.moving)

    def effort_limits(self, setup: Setup) -> Array:
        """Return the largest efforts of the joints (n,) [N m or N]."""
        return np.array([joint.effort for joint in setup.tree.moving])

    def initial(self, setup: Setup, state: RobotState) -> RobotState:
        """Return the initial state, for joints that the scenario does not place.

        A joint whose range does not have 0 inside starts in the middle of its range; a robot in
        balance starts beside it; joints that mimic others follow them.

        Args:
            setup: robot and scenario.
            state: at joint positions 0, or those of the scenario.
        """
        frozen_at_angle = (fault.joint for fault in setup.faults if fault.angle is not None)
        placed = {*setup.scenario.initial.q, *frozen_at_angle}
        ranges = self.ranges(setup)
        # Middle of the range, or its only finite end.
        q = np.array(state.q)
        for i, name in enumerate(setup.joints):
            lower, upper = ranges[name]
            if name not in placed and not lower < 0.0 < upper:
                ends = [end for end in (lower, upper) if np.isfinite(end)]
                q[i] += sum(ends) / len(ends)
        # Away from a balance, towards the upper stops.
        may_move = not placed and not state.qd.any()
        self._is_moved_from_balance = may_move and self._is_balanced(setup, q)
        if self._is_moved_from_balance:
            upper_stops = np.array([ranges[name][1] for name in setup.joints])
            q += np.minimum(BALANCE_OFFSET, LARGEST_SHARE * (upper_stops - q))
        # q = mimic_matrix @ q_independent + offset
        mimic_matrix, offset = setup.tree.independent(setup.joints)
        independent = [not joint.mimic for joint in setup.tree.moving]
        q, qd = mimic_matrix @ q[independent] + offset, mimic_matrix @ state.qd[independent]
        return replace(state, q=q, qd=qd)

    def _is_balanced(self, setup: Setup, q: Array) -> bool:
        """Return whether a robot at rest stays at rest at joint positions q (n,) [rad or m].

        That is so where gravity accelerates no joint by more than ROUND_OFF_ACCELERATION. False
        where a controller acts or the base moves: then something moves anyhow.
        """
        scenario, gravity = setup.scenario, setup.parameters.gravity
        if scenario.controller.get("name", "none") != "none" or scenario.base != "fixed":
            return False
        try:
            model = TreeDynamics(setup.tree, setup.joints, "fixed", gravity)
        except AccordError:  # the reference reports it to the user
            return False
        mass, forces = model.statics(q, np.eye(3))
        is_small = np.abs(forces) < ROUND_OFF_ACCELERATION * np.diag(mass)
        return bool(q.size and gravity and is_small.all())

    def reference(self, setup: Setup) -> Simulator:
        """Return the simulator by our own equations."""
        return TreeReference(setup, friction_of(setup))

    def engine(self, setup: Setup, engine: AnyEngine) -> Simulator:
        """Return an engine's simulator, of the description without its geometry."""
        bare, friction = without_frames(strip(setup.urdf())), friction_of(setup)
        model = EngineModel.of(setup, urdf=bare, friction=friction)
        return simulate_model(model, engine)

    def remarks(self, setup: Setup) -> Mapping[str, str]:
        """Return remarks to the user on the model, by subject."""
        moved = BALANCE_OFFSET if self._is_moved_from_balance else 0.0
        return remarks_on_file(setup, self.file(setup), self.ranges(setup), moved)

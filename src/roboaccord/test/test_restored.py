"""What is changed for a while is as it was afterwards, whatever happens meanwhile."""

from __future__ import annotations

import ast
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import roboaccord
from roboaccord.contract.errors import AccordError
from roboaccord.contract.fault import Fault
from roboaccord.contract.sliding_friction import EllipseFriction
from roboaccord.contract.state import Array, Command, RobotState
from roboaccord.contract.trajectory import Trajectory
from roboaccord.crosscheck.ticks import predict_ticks
from roboaccord.engines.deviations import GROUND, OF_FEET, OF_JOINTS, OF_LINKS, ModelChange
from roboaccord.engines.model import EngineModel
from roboaccord.engines.spec import Scheme
from roboaccord.engines.twin import Twin
from roboaccord.simulators.friction import JointFriction

SOURCE = Path(roboaccord.__file__).parents[2]
BLOCKS = (ast.FunctionDef, ast.With, ast.If, ast.Try)
# What these do behind it is for success alone: a file that is complete, a signal that came.
ON_SUCCESS = {"picture", "drafting", "terminal_keys"}


class Fragile(Twin):
    """A twin whose steps fail, if asked."""

    fails = False  # in every physics step

    def _substeps(self, effort: Array, count: int) -> None:
        if self.fails:
            raise AccordError("planted")
        super()._substeps(effort, count)


def fragile(*faults: Fault) -> tuple[Fragile, Trajectory]:
    """Return a twin that has every kind of parameter, and some ticks of a motion."""
    joint = """<joint name="{0}" type="continuous"><parent link="{1}"/><child link="{2}"/>
        <origin xyz="0.3 0 0"/><axis xyz="{3}"/></joint>"""
    link = """<link name="{0}"><inertial><origin xyz="0.1 0.02 0"/><mass value="1"/>
        <inertia ixx="0.1" iyy="0.2" izz="0.2" ixy="0.01" ixz="0" iyz="0"/></inertial></link>"""
    fixed = (
        """<joint name="tie" type="fixed"><parent link="world"/><child link="base_link"/></joint>"""
    )
    places = ("shoulder", "base_link", "upper", "0 1 0"), ("elbow", "upper", "fore", "0 1 1")
    parts = [fixed, *map(link.format, ("base_link", "upper", "fore"))]
    parts += [joint.format(*place) for place in places]
    model = EngineModel(
        urdf=f"<robot name='arm'><link name='world'/>{''.join(parts)}</robot>",
        base="fixed", joints=("shoulder", "elbow"), effort_limits=np.full(2, 9.0),
        physics_step=0.001, gravity=9.81, faults=faults,
        friction=JointFriction(np.array([0.1, 0.2]), np.array([0.3, 0.1]), 0.01),
        force_law=EllipseFriction(["fore"], np.array([[0.1, 0.0]]), 1.0, 0.3, 0.2, 0.01),
    )  # fmt: skip
    twin, period = Fragile(model, Scheme("semi-implicit Euler", damping=True)), 0.002
    rng = np.random.default_rng(1)
    states = [twin.reset(RobotState(0.0, *rng.standard_normal((3, 2))))]
    states += [twin.step(Command(e), period) for e in rng.standard_normal((3, 2))]
    return twin, Trajectory.from_states(model.joints, states)


def test_a_twin_with_a_number_otherwise_is_another_twin() -> None:
    """Each kind of number moves the ends of ticks, and leaves the first twin as it was."""
    twin, run = fragile()

    def ends(twin: Twin) -> Array:
        found, _ = predict_ticks(twin, run, np.arange(len(run) - 1))
        return np.column_stack([found.q, found.qd])

    plain, kinds = ends(twin), (*OF_LINKS, *OF_JOINTS, *OF_FEET, *GROUND)
    for quantity in kinds:
        where = {OF_JOINTS: "elbow", GROUND: ""}
        place = next((at for each, at in where.items() if quantity in each), "fore")
        other = Twin(twin.intended, twin.scheme, changes=[ModelChange(quantity, place, 0, 0.05)])
        assert (ends(other) != plain).any(), quantity
    for axis in range(3):
        other = Twin(twin.intended, twin.scheme, changes=[ModelChange("gravity", "", axis, 0.05)])
        assert (ends(other) != plain).any()
    assert (ends(twin) == plain).all()


def test_a_step_that_fails_while_a_brake_slips_leaves_its_number_of_physics_steps():
    """Each control period has two of them, after an error in the first as well."""
    ends = list[RobotState]()
    for fails in (False, True):
        twin, run = fragile(Fault("elbow", "slipping", 0.0, size=0.1))
        twin.reset(run.state(0))
        if fails:
            twin.fails = True
            with pytest.raises(AccordError, match="planted"):
                twin.step(run.command(0), 0.002)
            twin.fails = False
            twin.reset(run.state(0))
        ends.append(twin.step(run.command(0), 0.002))
    assert (ends[0].q == ends[1].q).all() and (ends[0].qd == ends[1].qd).all()


def test_what_a_context_manager_undoes_it_undoes_after_errors_too():
    """Nothing stands behind a `yield` but in `finally`, where errors pass, too."""
    loose = [
        f"{path.name}: {function.name}"
        for path in sorted(SOURCE.rglob("*/*.py"))
        if "test" not in path.parts and "@contextmanager" in (text := path.read_text())
        for function in ast.walk(ast.parse(text))
        if isinstance(function, ast.FunctionDef) and function.name not in ON_SUCCESS
        if any("contextmanager" in ast.unparse(each) for each in function.decorator_list)
        if any(_goes_on(node.body) for node in ast.walk(function) if isinstance(node, BLOCKS))
    ]
    assert loose == []


def _goes_on(body: list[ast.stmt]) -> bool:
    """Return whether a statement but `return` follows one that yields, or a `with` that does."""
    return any(
        isinstance(one, ast.Expr | ast.With) and not isinstance(after, ast.Return)
        for one, after in pairwise(body)
        if any(isinstance(each, ast.Yield) for each in ast.walk(one))
    )

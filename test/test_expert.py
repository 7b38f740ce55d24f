"""The expert setting of each engine is the one that the table of all settings chooses."""

from __future__ import annotations

from collections.abc import Mapping

import mujoco
import numpy as np
import pytest
from benchmarks.campaigns.settings import MU, SETTINGS, SPEED, G, boxes, slide, start
from roboaccord.contract.results import Json
from roboaccord.contract.state import Command
from roboaccord.engines import simulate_model, spec
from roboaccord.engines.model import EngineModel
from roboaccord.engines.mujoco.simulator import MujocoSimulator

pytestmark = pytest.mark.thorough

EXPERT = {
    "dart": {"friction_solver": "nsgs", "friction_iterations": 1000},
    "mujoco": {"cone": "elliptic", "impratio": 10.0},
}
OTHERS: list[tuple[str, Mapping[str, Json]]] = [("dart", {}), ("dart", {"friction_solver": "nsgs"})]
STEP = 1e-3  # s
JOINTS = 64
INERTIAL = (
    '<inertial><mass value="0.1"/><inertia ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0" ixz="0" '
    'iyz="0"/></inertial>'
)
LINK = (
    f'<link name="link_{{i}}">{INERTIAL}</link><joint name="joint_{{i}}" type="continuous"><parent '
    'link="{parent}"/><child link="link_{i}"/><origin xyz="0 0 0.1"/><axis xyz="1 0 0"/></joint>'
)
STOPS = (
    150.0 * STEP * MU * G / SPEED
)  # %: half a step's travel is semi-implicit Euler's, and a step's
SUNK = 20.0 * 500.0 * G * STEP**2  # mm: twenty times what gravity makes of a step; 49 mm in 0.1 s


def sunk(engine: str, options: Mapping[str, Json]) -> float:
    """Return how far a box has sunk in 0.1 s that lies on one of 1 % of its mass [mm]."""
    simulator = boxes(engine, options, stacked=True)
    start(simulator, 0.0, 0.0)
    end = simulator.step(Command(np.zeros(1)), 0.1)
    return 1e3 * float(0.05 - end.position[2] - end.q[0])


@pytest.mark.parametrize("engine", EXPERT)
def test_one_setting_holds_for_the_sliding_box_and_the_stack(engine: str) -> None:
    """Of those that do, it is the one that costs least: `make settings`."""
    assert spec(engine).expert == EXPERT[engine]
    assert EXPERT[engine] in SETTINGS[engine]
    assert abs(slide(engine, EXPERT[engine])) < STOPS
    assert sunk(engine, EXPERT[engine]) < SUNK


@pytest.mark.parametrize(("engine", "options"), OTHERS)
def test_what_it_is_not_does_not(engine: str, options: Mapping[str, Json]) -> None:
    assert sunk(engine, options) > 4.0 * SUNK


def test_mujocos_sparse_cholesky_is_never_used() -> None:
    """4.0.0 takes it above 60 coordinates, unless an option forbids it."""
    links, parent = "", "base_link"
    for i in range(JOINTS):
        links += LINK.format(parent=parent, i=i)
        parent = f"link_{i}"
    urdf = f'<robot name="chain"><link name="base_link">{INERTIAL}</link>{links}</robot>'
    model = EngineModel(
        urdf=urdf, base="free", joints=tuple(f"joint_{i}" for i in range(JOINTS)),
        effort_limits=np.zeros(JOINTS), physics_step=STEP, gravity=G,
    )  # fmt: skip
    simulator = simulate_model(model, "mujoco")
    assert isinstance(simulator, MujocoSimulator)
    model = simulator.mechanism.data.model
    assert model.nv == JOINTS + 6 > 60
    assert model.opt.jacobian == mujoco.mjtJacobian.mjJAC_DENSE
    model.opt.jacobian = mujoco.mjtJacobian.mjJAC_AUTO
    assert mujoco.mj_isSparse(model)

"""The twin of the snake on spheres in Gazebo, against a bag recorded there and against theory."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from roboaccord.bag.reader import read_run
from roboaccord.contract.errors import AccordError
from roboaccord.contract.friction import CFM
from roboaccord.contract.state import Array
from roboaccord.crosscheck.recorded import by_contacts, check_bag
from roboaccord.crosscheck.scheme import compare
from roboaccord.engines.grip import ERP, Grip
from roboaccord.engines.spec import EngineSpec, Footing
from roboaccord.engines.twin import Twin, twin_of
from roboaccord.gazebo.twin import gazebo_engine
from roboaccord.run.factory import make_simulator
from roboaccord.run.loop import simulate
from roboaccord.scenario.controllers import make_controller
from roboaccord.scenario.files import load_scenario
from roboaccord.scenario.setup import Setup

BAG = Path(__file__).parent / "data" / "serpenoid_gz"  # of 7 links on slippery ground, 50 ticks
STEP = 0.001  # s


def snake(*changes: str) -> Setup:
    keys = ("parameters.joints=6", "controller.frequency=20", "duration=0.05", *changes)
    return Setup.of(load_scenario("snake", "snake", "serpenoid", keys))


def grip_of(setup: Setup) -> tuple[Grip, EngineSpec]:
    engine = gazebo_engine(setup, "spheres")
    twin = make_simulator(by_contacts(setup, "spheres")[0], twin_of(engine))
    assert isinstance(twin, Twin)
    assert twin.grip
    return twin.grip, engine


def test_a_run_in_gazebo_is_its_twin_where_links_stick_and_slip() -> None:
    """Round-off is 1e-14 there; without the carriages, 1e-6 of the mass, rates are 1e-9 off."""
    run = read_run(BAG)
    found = check_bag(run)
    assert found.levels.scheme["gz"].outcome == "within"
    assert found.ok
    assert {each.parameter for each in found.resolution} >= {"mass", "friction across"}
    setup = Setup.of(run.scenario_of())
    whole = gazebo_engine(setup, "spheres")
    assert whole.footing
    bare = replace(whole, footing=Footing(whole.footing.radius, (0.0, 0.0, 0.0)))
    n, ticks = len(setup.joints), np.arange(len(run.trajectory) - 1)
    law = by_contacts(setup, "spheres")[0]
    largest = []
    for engine in (whole, bare):
        twin = make_simulator(law, twin_of(engine))
        errors = compare(twin, run.trajectory, ticks).errors
        largest.append(np.abs(errors[:, n : 2 * n]).max())
    assert largest[0] < 1e-12
    assert largest[1] > 1e-9

"""Which scenarios have no twin in an engine, and why; all others are compared by their scheme."""

from __future__ import annotations

import pytest
from roboaccord.contract.errors import AccordError
from roboaccord.crosscheck.measures.scheme import NoTwin, check_scheme
from roboaccord.crosscheck.runs import Job, run_job
from roboaccord.description.resources import share
from roboaccord.engines import REFERENCE, default_names, spec
from roboaccord.gazebo.form import contact_shapes
from roboaccord.gazebo.twin import gazebo_engine, gazebo_footing
from roboaccord.scenario import Setup, find_robot, robot_names
from roboaccord.scenario.files import load_scenario, scenario_names
from roboaccord.scenario.gazebo_contacts import by_contacts

pytestmark = pytest.mark.slow

TICKS = 20
WITHOUT = {
    "packbot push": "free bodies move",
    "packbot topple": "free bodies move",
    "packbot transition": "every tick has",
    "roller_sphere dribble": "press_1 moves freely",
    "roller_sphere figure_eight": "a ball stands in a frame",
    "roller_sphere headings": "a ball stands in a frame",
    "roller_sphere teleop": "a ball stands in a frame",
    "voxel_sphere bowl": "every tick has",
    "voxel_sphere teleop": "every tick has",
}
"""By robot and scenario, in every engine: a word of the reason."""
IN_GAZEBO = {
    "monkeybot": "magnets hold by constraints",
    **{
        f"packbot {name}_real": "dry friction of joints is a constraint"
        for name in ("collapse", "frozen_elbow", "reach", "shelf")
    },
    "packbot push": "free bodies move", "packbot topple": "free bodies move",
    "packbot transition": "every tick has", "roller_sphere dribble": "press_1 moves freely",
    "roller_sphere figure_eight": "its shape", "roller_sphere headings": "its shape",
    "roller_sphere teleop": "its shape", "voxel_sphere arena": "the kinematic ball",
    "voxel_sphere bowl": "does not report its contacts",
    "voxel_sphere incline": "the kinematic ball", "voxel_sphere sinusoid": "the kinematic ball",
    "voxel_sphere teleop": "does not report its contacts",
}  # fmt: skip
"""By robot, or robot and scenario: a word of the reason in a run recorded in Gazebo."""


def scenarios() -> list[tuple[str, str]]:
    """Return every robot with each of its scenarios."""
    packages = {robot: find_robot(robot).package for robot in robot_names()}
    return [
        (robot, name)
        for robot, package in packages.items()
        if (share(package) / "scenarios").is_dir()
        for name in scenario_names(package)
    ]


@pytest.mark.parametrize("engine", default_names())
@pytest.mark.parametrize(("robot", "name"), scenarios())
def test_a_scenario_has_a_twin_or_a_reason(robot: str, name: str, engine: str) -> None:
    scenario = load_scenario(find_robot(robot).package, robot, name)
    period = scenario.control_period
    setup = Setup.of(
        load_scenario(find_robot(robot).package, robot, name, [f"duration={TICKS * period!r}"])
    )
    chosen = spec(engine)
    try:
        run = run_job(setup.scenario.data(), Job(engine, scenario.physics_step), chosen)[1]
    except AccordError as refused:
        pytest.skip(str(refused))
    check = check_scheme(setup, chosen, run, named=False)
    if isinstance(check, NoTwin):
        assert WITHOUT[f"{robot} {name}"] in check.reason
    else:
        assert f"{robot} {name}" not in WITHOUT
        assert check.error <= check.floor


def none_in_gazebo(setup: Setup) -> str:
    """Return why a run in Gazebo has no twin, "" where it has; ticks of the reference stand for it.

    What those differ by does not count.
    """
    shape = contact_shapes(setup, "").get("contacts", "")
    try:
        engine = gazebo_engine(gazebo_footing(setup, shape))
    except AccordError as none:
        return str(none)
    job = Job(REFERENCE, setup.scenario.physics_step)
    run = run_job(setup.scenario.data(), job, REFERENCE)[1]
    check = check_scheme(by_contacts(setup, shape)[0], engine, run, named=False)
    return check.reason if isinstance(check, NoTwin) else ""


@pytest.mark.parametrize(("robot", "name"), scenarios())
def test_a_run_in_gazebo_has_a_twin_or_a_reason(robot: str, name: str) -> None:
    package = find_robot(robot).package
    period = load_scenario(package, robot, name).control_period
    setup = Setup.of(load_scenario(package, robot, name, [f"duration={TICKS * period!r}"]))
    known = IN_GAZEBO.get(robot) or IN_GAZEBO.get(f"{robot} {name}", "")
    found = none_in_gazebo(setup)
    assert bool(known) is bool(found) and known in found


def test_boxes_of_the_snake_in_gazebo_have_no_twin() -> None:
    setup = Setup.of(load_scenario("snake", "snake", "serpenoid"))
    with pytest.raises(AccordError, match="with boxes, of which only the contact solver knows"):
        gazebo_footing(setup, "boxes")

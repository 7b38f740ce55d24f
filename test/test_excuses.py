"""The list of all excuses and loosened tolerances of the shipped scenarios."""

from __future__ import annotations

from collections.abc import Iterator

from roboaccord.description.resources import share
from roboaccord.scenario import find_robot, load_scenario, robot_names, scenario_names
from roboaccord.scenario.scenario import Allowance, CrosscheckSpec

EXCUSED = {
    "packbot collapse, one_step of dart": "five impacts",
    "packbot collapse, one_step of mujoco": "five impacts",
    "packbot collapse_real, one_step of dart": "five impacts",  # as it extends collapse
    "packbot collapse_real, one_step of mujoco": "one impact",
    "packbot collapse_real, events of mujoco": "0.5 mm of approach later",
    "packbot push, energy of dart": "halves",
    "packbot push, one_step of gz": "impacts",
    "packbot topple, one_step of gz": "impacts",
    "snake pegs, one_step of dart": "overlap",
    "snake pegs, one_step of mujoco": "overlap",
    **{
        f"packbot {scenario}, {level} of {engine}": reason
        for scenario in ("push", "topple")
        for level, reason in (("one_step", "impact"), ("events", "margin"))
        for engine in ("dart", "mujoco")
    },
}
LOOSENED = {
    "packbot collapse, trajectory of dart": (0.005, "0.5 mm later"),
    "packbot collapse_real, trajectory of dart": (0.005, "0.5 mm later"),
    "packbot collapse_real, trajectory of mujoco": (0.005, "margin"),
    **{
        f"packbot {scenario}, trajectory of {engine}": (0.0005, "margin")
        for scenario in ("push", "topple")
        for engine in ("dart", "gz", "mujoco")
    },
    "voxel_sphere bowl, one_step": (0.05, "facets"),
    "voxel_sphere bowl, trajectory of dart": (0.01, "facets"),
    "voxel_sphere bowl, trajectory of mujoco": (0.01, "facets"),
    "voxel_sphere teleop, one_step": (0.8, "facets"),
    "voxel_sphere teleop, trajectory of dart": (0.01, "facets"),
    "voxel_sphere teleop, trajectory of mujoco": (0.01, "facets"),
}


def shipped() -> Iterator[tuple[str, CrosscheckSpec]]:
    """Yield robot and scenario by name, and how it is cross-checked."""
    for robot in robot_names():
        package = find_robot(robot).package
        if not (share(package) / "scenarios").is_dir():
            continue
        for name in scenario_names(package):
            yield f"{robot} {name}", load_scenario(package, robot, name).crosscheck


def test_these_levels_are_excused_and_no_others() -> None:
    """A new excuse is a decision: it is listed here, with a word of its reason."""
    excuses = {
        f"{scenario}, {level} of {engine}": reason
        for scenario, spec in shipped()
        for level, engines in spec.excuse.items()
        for engine, reason in engines.items()
    }
    assert set(excuses) == set(EXCUSED)
    assert all(word in excuses[key] for key, word in EXCUSED.items())


def test_these_tolerances_are_loosened_and_no_others() -> None:
    """Likewise for what loosens a level; everything else is held to what was measured."""
    loosened = {}
    for scenario, spec in shipped():
        given = {f"trajectory of {e}": t for e, t in spec.tolerances.trajectory.items()}
        for key, value in {"one_step": spec.tolerances.one_step, **given}.items():
            if isinstance(value, Allowance):
                loosened[f"{scenario}, {key}"] = value
    assert {key: loosened[key].limit for key in loosened} == {
        k: limit for k, (limit, _) in LOOSENED.items()
    }
    assert all(word in loosened[key].reason for key, (_, word) in LOOSENED.items())


def test_the_tolerances_of_all_levels_are_the_defaults() -> None:
    """No scenario changes what accelerations, masses and orders are held to."""
    default = CrosscheckSpec().tolerances
    for scenario, spec in shipped():
        for name in ("acceleration", "mass", "order", "one_step_order"):
            assert getattr(spec.tolerances, name) == getattr(default, name), scenario

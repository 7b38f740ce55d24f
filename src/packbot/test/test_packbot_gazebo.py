"""The Packbot's form and world for Gazebo: who can touch whom, and what stands around."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from packbot.contact.collisions import GROUND
from roboaccord.contract.errors import AccordError
from roboaccord.description.meshes import read_mesh
from roboaccord.description.tree import Tree
from roboaccord.gazebo.form import expand_for_gazebo
from roboaccord.scenario.files import load_scenario
from roboaccord.scenario.setup import Setup


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def setup_of(scenario: str, *changes: str) -> Setup:
    return Setup.of(load_scenario("packbot", "packbot", scenario, changes))


def world_of(setup: Setup) -> tuple[Path, ET.Element]:
    path = setup.robot.gazebo.world(setup)
    return path, ET.parse(path).getroot()


def masks(setup: Setup) -> dict[str, int]:
    """Return the mask of every link and of everything that stands still."""
    given = {}
    for tag in ET.fromstring(expand_for_gazebo(setup)).findall("gazebo[@reference]"):
        mask = tag.findtext("collision/surface/contact/collide_bitmask", "none")
        given[tag.attrib["reference"]] = int(mask, 0)
    for model in world_of(setup)[1].findall("world/model"):
        mask = model.findtext("link/collision/surface/contact/collide_bitmask", "none")
        given[model.attrib["name"]] = int(mask, 0)
    return given


def test_gazebo_lets_the_same_pairs_touch_as_every_other_simulator() -> None:
    """Gazebo leaves out a link and its parent; of two things that stand still it asks nothing."""
    setup = setup_of("shelf")
    assert setup.contact is not None
    given, tree = masks(setup), Tree.parse(expand_for_gazebo(setup))
    parents = {frozenset((joint.parent, joint.child)) for joint in tree.joints}
    still = {fixture.name for fixture in setup.contact.fixtures}
    pairs_found = {
        frozenset(pair)
        for pair in combinations(given, 2)
        if given[pair[0]] & given[pair[1]] and not set(pair) <= still
    }
    assert pairs_found - parents == {frozenset(pair) for pair in setup.contact.pairs}
    assert len(pairs_found - parents) == len(setup.contact.pairs) > 40
    assert set(masks(setup_of("collapse", "friction={law: none}")).values()) == {0, 0x0F}


def test_the_world_holds_what_stands_around() -> None:
    from roboaccord_files.gazebo.check import check_file

    path, root = world_of(setup_of("shelf"))
    assert check_file(path, []) == []
    models = {model.attrib["name"]: model for model in root.findall("world/model")}
    assert list(models) == [
        "ground", "lower_board", "upper_board", "left_wall", "right_front_post", "right_back_post",
        "back", "bracket",
    ]  # fmt: skip
    size = models["ground"].findtext("link/collision/geometry/box/size", "")
    assert [float(word) for word in size.split()] == GROUND.size.tolist()
    place = [float(word) for word in models["bracket"].findtext("pose", "").split()]
    assert place == [1.06, 0.02, 0.89, 0.0, 0.0, 0.0]
    file = models["bracket"].findtext("link/collision/geometry/mesh/uri", "")
    points, _ = read_mesh(path.parent / file)
    shipped, _ = read_mesh(Path(__file__).parents[1] / "meshes" / "bracket.obj")
    turned = shipped * [-1.0, -1.0, 1.0]  # yaw of half a turn
    for one, other in ((points, turned), (turned, points)):
        gaps = np.linalg.norm(one[:, None] - other, axis=2).min(axis=1)
        assert gaps.max() < 1e-12


def test_a_law_that_gazebo_does_not_have_is_refused() -> None:
    setup = setup_of("collapse", "friction={law: joint_clamp}")
    with pytest.raises(AccordError, match=r"Gazebo has no contact law joint_clamp; try friction"):
        world_of(setup)


def test_rotors_are_refused_which_gazebo_cannot_have() -> None:
    with pytest.raises(AccordError, match="gz: no reflected inertia; use the reference or mujoco"):
        world_of(setup_of("reach_real"))

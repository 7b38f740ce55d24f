"""Ground, wall, terrain and shelf as markers, from one function."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from roboaccord.bag.content import Content
from roboaccord.description.meshes import read_mesh
from roboaccord.run.runner import RunRequest, find_runner
from roboaccord.scenario.surroundings import surfaces_around
from rosbags.typesys import Stores, get_typestore
from running import or_skip, setup_of
from workspace import ROOT

STORE = get_typestore(Stores.ROS2_JAZZY)
TRIANGLE_LIST, ADD = 11, 0  # visualization_msgs/msg/Marker


def corners(markers: Any) -> np.ndarray:
    """Return the triangles (f, 3, 3) [m] of a marker."""
    return np.array([(p.x, p.y, p.z) for p in markers.points]).reshape(-1, 3, 3)


def test_a_wall_is_the_model_that_gazebo_shows() -> None:
    """Its front, which in Gazebo goes on to both sides."""
    (wall,) = surfaces_around(setup_of("monkeybot", "swing"))
    model = ET.parse(ROOT / "models/magnet_wall/model.sdf").getroot()
    pose = np.array(model.findtext(".//visual/pose").split(), dtype=float)
    front, _ = read_mesh(ROOT / "models/magnet_wall/meshes/wall.obj")
    low, high = wall.vertices.min(axis=0), wall.vertices.max(axis=0)
    assert wall.name == "wall"
    assert front[:, 0] + pose[0] == pytest.approx(high[0])
    assert (front[:, 2].min(), front[:, 2].max()) == pytest.approx((low[2], high[2]))
    assert front[:, 1].min() < low[1] and front[:, 1].max() > high[1]


def test_a_shelf_has_the_sizes_and_places_of_the_scenario() -> None:
    setup = setup_of("packbot", "shelf")
    ground, *solids = surfaces_around(setup)
    assert ground.name == "ground" and not ground.vertices[ground.triangles][..., 2].any()
    boxes = list(setup.scenario.terrain["boxes"].values())
    assert len(solids) == len(boxes) + len(setup.scenario.terrain.get("hulls", {}))
    for solid, given in zip(solids, boxes, strict=False):
        middle = 0.5 * (solid.vertices.min(axis=0) + solid.vertices.max(axis=0))
        assert middle == pytest.approx(given["position"])
        if not any(given.get("rpy", ())):
            assert np.ptp(solid.vertices, axis=0) == pytest.approx(given["size"])


@pytest.mark.parametrize("transport", ["direct", pytest.param("ros", marks=pytest.mark.slow)])
def test_every_bag_holds_them_latched(transport: str, tmp_path: Path) -> None:
    """The triangles face outwards: by Gauss, their volume is positive. The ball lies on them."""
    with or_skip(""):
        runner: Callable[..., Any] = find_runner(transport)
    setup = setup_of("voxel_sphere", "bowl", "duration=0.05")
    bag = runner(RunRequest(setup=setup, engine="reference", bag=tmp_path / "bag")).request.bag
    content = Content.of(bag)
    (data,) = content.messages["/voxel_sphere/surroundings"]
    (marker,) = STORE.deserialize_cdr(data, "visualization_msgs/msg/MarkerArray").markers
    assert (marker.ns, marker.type, marker.action) == ("terrain", TRIANGLE_LIST, ADD)
    assert (marker.header.frame_id, marker.scale.x, marker.color.a) == ("odom", 1.0, 1.0)
    found = corners(marker)
    volume = np.einsum("fi,fi->", found[:, 0], np.cross(found[:, 1], found[:, 2])) / 6.0
    away = np.linalg.norm(found - setup.initial.position, axis=2).min()
    assert 0.0 < volume < 1.0
    assert away == pytest.approx(setup.parameters.radius, abs=setup.terrain.voxel)
    metadata = (bag / "metadata.yaml").read_text(encoding="utf-8")
    stored = metadata[metadata.index("/voxel_sphere/surroundings") :]
    assert "transient_local" in stored[: stored.index("message_count")]

"""The source's scheme: it runs, it is worse, and it ends where its theory does."""

import numpy as np
import pytest
from roboaccord.contract.errors import AccordError
from voxel_sphere.source.described import AsDescribed, roll_as_described

pytestmark = pytest.mark.thorough

N, R = 50, 5.0


def floor(height=10):
    volume = np.zeros((N, N, N), dtype=bool)
    volume[:, :, :height] = True
    return volume


def test_on_a_level_floor_it_is_exact():
    """In plan; its height is that of the nearest voxel's centre."""
    counted = []
    path = roll_as_described(
        floor(), R, centre=(15, 25, 14.5), omega=(0, 1, 0), duration=4.0, samples=10,
        done=counted.append,
    )  # fmt: skip
    assert sum(counted) == 10
    assert path.status == "done"
    assert path.centre[-1] == pytest.approx([35, 25, 14.5], abs=0.2)


def test_a_wall_turns_it_along():
    volume = floor()
    volume[40:] = True
    path = roll_as_described(volume, R, centre=(20, 25, 14.5), omega=(-0.4, 1, 0), duration=5.0)
    kinds = [event.kind for event in path.events]
    assert kinds[:2] == ["wall", "parallel"]
    assert path.events[0].centre[0] == pytest.approx(35.0, abs=2.0)  # a step, and the match's reach
    assert path.centre[-1, 0] == pytest.approx(path.events[1].centre[0], abs=0.5)
    assert path.centre[-1, 1] > path.events[1].centre[1] + R


def test_a_lost_contact_is_shifted_to():
    """By up to round(r / 10) voxels, and at least one: 2.4 over the floor it is in reach."""
    sphere = AsDescribed(floor(), R, centre=(25, 25, 16.9), omega=(0, 1, 0))
    assert sphere.centre[2] == pytest.approx(14.5, abs=0.1)


def test_too_many_contacts():
    volume = floor()
    volume[40:] = True
    volume[:, 32:] = True
    path = roll_as_described(volume, R, centre=(30, 22, 14.5), omega=(-1, 1, 0), duration=8.0)
    assert path.status == "too_many_contacts"


def test_a_start_in_the_air():
    with pytest.raises(AccordError, match="in the air"):
        AsDescribed(floor(), R, centre=(25, 25, 30), omega=(0, 1, 0))

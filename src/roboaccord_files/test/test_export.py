"""Export of runs: every digit, the columns and arrays that scripts read, and refusals."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import test_bag
import toy_robot
from roboaccord.bag.writer import write_trajectory
from roboaccord.contract.errors import AccordError
from roboaccord_files.bags.export import export
from scipy.io import loadmat

toy = test_bag.toy  # fixture


def test_export_keeps_every_digit(tmp_path: Path) -> None:
    """CSV has a column for each switch, too."""
    bag, motion = tmp_path / "bag", toy_robot.switched_motion(change=8)
    write_trajectory(bag, toy_robot.make_switched(), "e", "1", motion)
    csv, npz, mat = (tmp_path / f"run.{kind}" for kind in ("csv", "npz", "mat"))
    assert export(bag, csv=csv, npz=npz, mat=mat) == [csv, npz, mat]
    with csv.open() as stream:
        header = stream.readline().strip().split(",")
        table = np.loadtxt(stream, delimiter=",")
    np.testing.assert_array_equal(table[:, :-2], motion.rows())
    np.testing.assert_array_equal(table[:, -1], np.arange(21) > 8)
    assert header[:4] == ["time [s]", "q/turn [rad]", "q/slide [m]", "qd/turn [rad/s]"]
    assert header[6:9] == ["effort/slide [N]", "base/x [m]", "base/y [m]"]
    assert header[-2:] == ["switch/magnet_a [1]", "switch/magnet_b [1]"]
    assert len(header) == table.shape[1]
    with np.load(npz) as data:
        np.testing.assert_array_equal(data["q"], motion.q)
        assert list(data["joints"]) == list(toy_robot.JOINTS)
        assert list(data["columns"]) == header
        assert str(data["sha256"]) == motion.sha256()
        assert list(data["switch_names"]) == ["magnet_a", "magnet_b"]
        np.testing.assert_array_equal(data["switches"][:, 0], np.arange(21) <= 8)
    data = loadmat(mat, squeeze_me=True)
    np.testing.assert_array_equal(data["twist"], motion.twist)
    assert list(data["joints"]) == list(toy_robot.JOINTS) and data["switches"].shape == (21, 2)


def test_export_refuses_in_one_line(tmp_path: Path) -> None:
    toy_robot.record(tmp_path / "a")
    with pytest.raises(AccordError, match="nothing to write: give --csv FILE"):
        export(tmp_path / "a")
    with pytest.raises(AccordError, match=r"cannot write .*there is no folder"):
        export(tmp_path / "a", csv=tmp_path / "nowhere" / "a.csv")

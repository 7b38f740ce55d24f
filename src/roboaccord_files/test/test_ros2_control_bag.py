"""A bag of ros2_control: its commands count as efforts, and their delay is given in ticks."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from roboaccord.cli.main import run
from roboaccord.contract.state import Array, Command
from roboaccord.run.loop import make_simulator
from roboaccord.scenario.setups import load_setup
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

ARM = Path(__file__).resolve().parents[3] / "examples/own_log/arm.urdf"
STATE, NUMBERS = "sensor_msgs/msg/JointState", "std_msgs/msg/Float64MultiArray"
TICK, COUNT = 10_000_000, 400  # ns between updates of the controller manager, and their number
STAMP, RECEIVED = 3_200_000_000, 10**18  # ns, of the first state
SOON = 3_000_000  # ns, from a state to its answer
GAIN, DAMPING = np.array([20.0, 8.0]), np.array([2.0, 0.4])  # N m/rad, N m s/rad
STORE = get_typestore(Stores.ROS2_JAZZY)
TYPES: Mapping[str, Any] = STORE.types


def bag(path: Path, late: int, efforts: float) -> Path:
    """Record an arm in MuJoCo whose commands act a few ticks after the state that they answer.

    Args:
        path: of the bag.
        late: number of ticks.
        efforts: those of the joint states: NaN of the broadcaster, or 0 of gz_ros2_control.
    """
    setup = load_setup(str(ARM), "", [])
    simulator, joints = make_simulator(setup, "mujoco"), [*setup.joints]
    state, waiting = simulator.state(), [np.zeros(2)] * late
    with Writer(path, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        topics = {"/joint_states": STATE, "/effort_controller/commands": NUMBERS}
        states, commands = (
            writer.add_connection(*each, typestore=STORE) for each in topics.items()
        )
        for i in range(COUNT):
            stamp = TYPES["builtin_interfaces/msg/Time"](*divmod(STAMP + i * TICK, 10**9))
            parts = state.q, state.qd, np.full(2, efforts)
            message = TYPES[STATE](TYPES["std_msgs/msg/Header"](stamp, ""), joints, *parts)
            writer.write(states, RECEIVED + i * TICK, STORE.serialize_cdr(message, STATE))
            waiting.append(answer(i * TICK / 1e9, state.q, state.qd))
            layout = TYPES["std_msgs/msg/MultiArrayLayout"]([], 0)
            numbers = STORE.serialize_cdr(TYPES[NUMBERS](layout, waiting[-1]), NUMBERS)
            writer.write(commands, RECEIVED + i * TICK + SOON, numbers)
            state = simulator.step(Command(waiting.pop(0)), TICK / 1e9)
    return path


def answer(time: float, q: Array, qd: Array) -> Array:
    """Return the efforts (2,) of a controller at a time [s]."""
    wanted = np.array([0.6 * np.sin(3.0 * time), 0.8 * np.sin(4.3 * time)])
    return np.asarray(GAIN * (wanted - q) - DAMPING * qd)


@pytest.mark.parametrize(("late", "efforts"), [(1, np.nan), (2, 0.0)])
def test_the_delay_of_commands_is_said_in_ticks_and_is_no_error(
    late: int, efforts: float, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """No option but the robot's file; the interval of the delay is half a tick wide."""
    pytest.importorskip("mujoco", reason="MuJoCo is not installed")
    path = bag(tmp_path / "bag", late, efforts)
    assert run(["crosscheck", str(path), "--robot", str(ARM)]) == 0
    out = " ".join(capfd.readouterr().out.split())
    assert "efforts are those of /effort_controller/commands" in out
    assert f"efforts act {late} tick{'s' * (late > 1)} of 10 ms late" in out
    assert "verdict: pass" in out

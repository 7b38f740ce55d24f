"""The controller node behind ros2_control: states of its broadcaster in, efforts as numbers out.

joint_state_broadcaster publishes the states, and a forward_command_controller takes the efforts as
std_msgs/Float64MultiArray, in the order of the robot's joints. Neither is a type of the controller
node, so this one answers each state itself, by the same controller.

Controllers are activated while the simulation runs. So the controller's time stays 0, which holds
the start, until the service `/R/start` is called; the node ends when the scenario's duration has
passed since then. There is no lockstep: an answer acts at the update of the controller manager
that follows its arrival. launch/ros2_control.launch.py starts all in this order.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from rclpy.node import Node
from roboaccord.cdr import JointStateCodec
from roboaccord.contract import Array, RobotState
from roboaccord.scenario import Setup
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger

from roboaccord_ros.graph import names as graph
from roboaccord_ros.graph.parameters import Options
from roboaccord_ros.graph.reading import finite_only, readable
from roboaccord_ros.graph.spinning import Run
from roboaccord_ros.nodes.controller import ControllerShell
from roboaccord_ros.nodes.inputs import PublishedInputs

STATES = "joint_states"  # topic of joint_state_broadcaster
COMMANDS = "effort_controller/commands"  # topic of the forward_command_controller


class Ros2ControlShell(ControllerShell):
    """Answers each state of ros2_control with the efforts of a controller.

    Args:
        node, run, setup, options, inputs: as for `ControllerShell`.
    """

    def __init__(
        self, node: Node, setup: Setup, run: Run, options: Options, inputs: PublishedInputs
    ) -> None:
        super().__init__(node, setup, run, replace(options, shared_process=True), inputs)
        self._decode = JointStateCodec(setup.joints).decode
        self._duration = options.duration or setup.scenario.duration  # s
        self._started = False  # whether the service was called
        self._start_time = math.nan  # stamp of the state at which it has started [s]
        self._commands = node.create_publisher(Float64MultiArray, COMMANDS, 10)
        callback = run.guard(readable(f"/{STATES}", finite_only(self._read_motion), self._on_state))
        node.create_subscription(JointState, STATES, callback, graph.NEWEST, raw=True)
        node.create_service(Trigger, f"{self.robot}/start", self._on_start)

    def _read_motion(self, data: bytes) -> tuple[float, Array, Array]:
        """Return stamp [s], q and qd (n,) of a message; the broadcaster has no efforts (NaN)."""
        stamp, q, qd, _ = self._decode(data)
        return stamp, q, qd

    def _on_start(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        """Let time pass from the next state on."""
        self._started = response.success = True
        return response

    def _on_state(self, motion: tuple[float, Array, Array]) -> None:
        """Answer a state; its time counts from the first one after the start."""
        stamp, q, qd = motion
        if self._started and math.isnan(self._start_time):
            self._start_time = stamp
        time = round(stamp - self._start_time, 9) if self._started else 0.0  # stamps are whole ns
        if time >= self._duration:
            self.run.done()
        else:
            self.answer_directly(RobotState(time, q, qd, np.zeros(len(q))), self._publish_efforts)

    def _publish_efforts(self, _: float, effort: Array) -> None:
        """Publish efforts (n,) for the forward_command_controller."""
        self._commands.publish(Float64MultiArray(data=effort.tolist()))


main = Ros2ControlShell.main

if __name__ == "__main__":
    main()

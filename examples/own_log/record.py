"""Somebody's own robot: /joint_states whose effort is motor current [A], and a tool of 0.25 kg.

As arms with harmonic drives publish it: 125 messages a second, positions with noise. The tool is in
the hand, 0.2 m behind the elbow, and not in the robot's file.
"""

import mujoco
import numpy as np
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

MODEL = """<mujoco><option timestep="0.001"/><worldbody><body>
<joint name="shoulder" axis="0 1 0" damping="0.05"/>
<inertial pos="0.15 0 0" mass="1.5" diaginertia="0.002 0.012 0.012"/><body pos="0.3 0 0">
<joint name="elbow" axis="0 1 0" damping="0.03"/>
<inertial pos="0.12 0 0" mass="0.8" diaginertia="0.001 0.006 0.006"/>
<body pos="0.2 0 0"><inertial pos="0 0 0" mass="0.25" diaginertia="1e-6 1e-6 1e-6"/></body>
</body></body></worldbody></mujoco>"""
CURRENT = np.array([11.1, 7.3])  # N m per A, gear included
types = get_typestore(Stores.ROS2_JAZZY).types
JointState = types["sensor_msgs/msg/JointState"]
Header, Time = types["std_msgs/msg/Header"], types["builtin_interfaces/msg/Time"]
model, noise = mujoco.MjModel.from_xml_string(MODEL), np.random.default_rng(0)
data = mujoco.MjData(model)
with Writer("robot_bag", version=9, storage_plugin=StoragePlugin.MCAP) as bag:
    store = get_typestore(Stores.ROS2_JAZZY)
    topic = bag.add_connection("/joint_states", JointState.__msgtype__, typestore=store)
    for tick in range(10_000):
        rate = np.array([[2.1, 3.4], [3.2, 1.3]])
        wanted = (np.array([[0.7, 0.3], [0.8, 0.4]]) * np.sin(rate * data.time)).sum(axis=1)
        torque = [60.0, 25.0] * (wanted - data.qpos) - [6.0, 2.0] * data.qvel
        if tick % 8 == 0:
            q = data.qpos + 2e-5 * noise.standard_normal(2)
            stamp = 8_000_000 * (tick // 8) + 1_764_000_000_000_000_000
            header = Header(Time(stamp // 10**9, stamp % 10**9), "")
            state = JointState(header, ["shoulder", "elbow"], q, data.qvel.copy(), torque / CURRENT)
            bag.write(topic, stamp, store.serialize_cdr(state, state.__msgtype__))
        data.qfrc_applied[:] = torque
        mujoco.mj_step(model, data)

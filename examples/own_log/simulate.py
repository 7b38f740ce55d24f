"""Somebody's own simulator: raw MuJoCo, with a mistake. The forearm weighs 0.85 kg, not 0.8."""

import mujoco
import numpy as np

MODEL = """<mujoco><option timestep="0.001"/><worldbody><body>
<joint name="shoulder" axis="0 1 0" damping="0.05"/>
<inertial pos="0.15 0 0" mass="1.5" diaginertia="0.002 0.012 0.012"/><body pos="0.3 0 0">
<joint name="elbow" axis="0 1 0" damping="0.03"/>
<inertial pos="0.12 0 0" mass="0.85" diaginertia="0.001 0.006 0.006"/>
</body></body></worldbody></mujoco>"""
model = mujoco.MjModel.from_xml_string(MODEL)
data, rows = mujoco.MjData(model), []
for _ in range(4000):
    wanted = np.array([np.sin(2.1 * data.time), 1.2 * np.sin(3.2 * data.time + 1.0)])
    torque = [20.0, 8.0] * (wanted - data.qpos) - [1.5, 0.5] * data.qvel
    rows.append([data.time, *data.qpos, *torque])
    data.qfrc_applied[:] = torque
    mujoco.mj_step(model, data)
np.savetxt("log.csv", rows, delimiter=",", comments="", header="t,q1,q2,tau1,tau2")

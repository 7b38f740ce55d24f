"""MuJoCo Warp on the CPU, in single precision: MuJoCo's scene. As there, friction is the larger.

A step takes 15 to 25 ms, kernels are compiled for seconds at first, and forces are those of
MuJoCo's model: it runs only if it is named.
"""

from importlib.metadata import version
from typing import Any

import warp as wp

from roboaccord_bench.engine import Engine, Forces
from roboaccord_bench.engines import mujoco
from roboaccord_bench.scene import Scene

wp.config.log_level = wp.LOG_ERROR  # before Warp warns of a missing GPU
import mujoco_warp as mjw  # noqa: E402


class WarpWorld(mujoco.MujocoWorld):
    """A scene in MuJoCo Warp, with options of MuJoCo."""

    def __init__(self, scene: Scene, step: float, **options: Any) -> None:
        super().__init__(scene, step, **options)
        self.warp = mjw.put_model(self.model), mjw.put_data(self.model, self.data)

    def advance(self, forces: Forces) -> None:
        model, data = self.warp
        for name, force in forces.items():
            data.xfrc_applied.numpy()[0, self.model.body(name).id, :3] = force
        mjw.step(model, data)
        mjw.get_data_into(self.data, self.model, data)


OPTIONS = mujoco.ENGINE.options
ENGINE = Engine(version=version("mujoco-warp"), world=WarpWorld, options=OPTIONS, slow=True)

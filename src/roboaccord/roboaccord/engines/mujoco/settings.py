"""Settings of MuJoCo: the keys below `engine_options.mujoco`.

A setting may be added: a field with a default and a line under `Args:`; model.py, contact.py or
simulator.py brings it into force, and `--set` takes it at once. Existing names and defaults stay:
they are in scenarios and published figures. A new integrator is an entry of ORDERS with its order,
which the trajectory level expects, and a `Scheme` in __init__.py.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from roboaccord.contract.errors import AccordError, check_known, check_switch, did_you_mean

ORDERS = {"euler": 1, "rk4": 4, "implicitfast": 1, "implicit": 1, "discrete": 1}
CONES = ("pyramidal", "elliptic")


@dataclass(frozen=True)
class MujocoSettings:
    """Hold integrator and contact parameters.

    Args:
        integrator: `euler`, `rk4`, `implicitfast`; `implicit`, which has the derivative of the
            Coriolis forces, too; or `discrete`, which solves for contacts at the end of the step.
            Where it is empty, that is rk4, and implicitfast with contacts, through which no
            integrator is of a high order.
        contact_time: time constant of contacts [s], of which 0 stands for the shortest: softer
            contacts hop less under sliding friction.
        contact_damping: their damping ratio: at 1 they rebound with e^-2 = 0.135 of the speed, at 5
            with 0.010 (`contact.rebound`).
        cone: of friction: `elliptic`, or `pyramidal`, which is MuJoCo's own default.
        impratio: of the impedance of friction over that of the normal force, 1 by MuJoCo's own
            default: what grips creeps less.
        diagexact: whether contacts are as soft as the inertia that they see in the present pose
            makes them, and not an estimate of it in the pose of the description.

    Raises:
        AccordError: for a value that MuJoCo does not take.
    """

    integrator: str = ""
    contact_time: float = 0.0
    contact_damping: float = 1.0
    cone: str = "elliptic"
    impratio: float = 10.0
    diagexact: bool = False

    def __post_init__(self) -> None:
        name, damping = str(self.integrator).lower(), float(self.contact_damping)
        if name and name not in ORDERS:
            raise AccordError(f"unknown integrator {name}{did_you_mean(name, ORDERS)}")
        check_known("unknown engine_options.mujoco.cone ", str(self.cone), CONES)
        if not damping >= 1.0:
            raise AccordError(
                f"engine_options.mujoco.contact_damping is {damping:g}, and must be 1 at least"
            )
        check_switch("engine_options.mujoco.diagexact", self.diagexact)
        if not 0.0 < float(self.impratio) < math.inf:
            raise AccordError(
                f"engine_options.mujoco.impratio is {self.impratio}, and must be above 0"
            )

    def integrator_of(self, *, contact: bool) -> str:
        """Return the integrator of a model with contacts, or without."""
        return str(self.integrator).lower() or ("implicitfast" if contact else "rk4")

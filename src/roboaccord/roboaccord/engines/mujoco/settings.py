"""Settings of MuJoCo: the keys below `engine_options.mujoco` of a scenario.

A scenario's values become a `MujocoSettings`, which refuses wrong ones; model.py, contact.py and
simulator.py put them into effect. To add a setting, add a field with a default and a line under
`Args:`; the option `--set` accepts it at once. Existing names and defaults stay: they are in
scenarios and published figures. A new integrator is an entry of ORDERS and a `Scheme` in
__init__.py.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from roboaccord.contract.errors import AccordError, check_known, check_switch
from roboaccord.engines.spec import Scheme

if TYPE_CHECKING:
    from roboaccord.engines.model import EngineModel

# Integrators by name, with their order of accuracy. The trajectory level of the cross-check expects
# that order of convergence.
ORDERS = {"euler": 1, "rk4": 4, "implicitfast": 1, "implicit": 1, "discrete": 1}
CONES = ("pyramidal", "elliptic")


@dataclass(frozen=True)
class MujocoSettings:
    """Integrator and contact parameters.

    Args:
        integrator: `euler`, `rk4`, `implicitfast`; `implicit`, which also has the derivative of
            Coriolis forces; or `discrete`, which solves for contacts at the end of the step. Empty
            for rk4 without contacts and implicitfast with them: through contacts no integrator has
            a high order.
        contact_time: time constant of contacts [s], 0 for the shortest possible; softer contacts
            hop less under sliding friction.
        contact_damping: damping ratio of contacts: at 1 they rebound with e^-2 = 0.135 of the
            speed, at 5 with 0.010 (`contact.rebound`).
        cone: of friction: `elliptic`, or `pyramidal`, which is MuJoCo's default.
        impratio: impedance of friction divided by that of the normal force. MuJoCo's default is 1;
            the larger it is, the less a sticking contact creeps.
        diagexact: whether the softness of contacts follows from the inertia in the present pose,
            instead of an estimate in the pose of the description.

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
        """Refuse values that MuJoCo does not take."""
        name, damping = str(self.integrator).lower(), float(self.contact_damping)
        check_known("unknown integrator ", name or (), ORDERS)
        check_known("unknown engine_options.mujoco.cone ", str(self.cone), CONES)
        if not damping >= 1.0:
            wrong = f"contact_damping is {damping:g}, and must be 1 at least"
            raise AccordError(f"engine_options.mujoco.{wrong}")
        check_switch("engine_options.mujoco.diagexact", self.diagexact)
        if not 0.0 < float(self.impratio) < math.inf:
            wrong = f"impratio is {self.impratio}, and must be above 0"
            raise AccordError(f"engine_options.mujoco.{wrong}")

    def integrator_of(self, *, contact: bool) -> str:
        """Return the name of the integrator for a model with or without contacts."""
        return str(self.integrator).lower() or ("implicitfast" if contact else "rk4")


def mujoco_scheme(model: EngineModel, settings: MujocoSettings) -> Scheme:
    """Return the integration method of MuJoCo for a model under settings."""
    name = settings.integrator_of(contact=model.contact is not None)
    kind: Final = "Runge-Kutta 4" if name == "rk4" else "semi-implicit Euler"
    # These two integrators also take the gyroscopic forces of a single free body at the end of the
    # step.
    is_single_body = not model.joints and name in ("implicitfast", "discrete")
    return Scheme(kind, implicit=is_single_body or name == "implicit", angular="own")

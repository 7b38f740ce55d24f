"""Settings of MuJoCo: the keys below `engine_options.mujoco`."""

from __future__ import annotations

from dataclasses import dataclass

from roboaccord.contract.errors import AccordError, did_you_mean

ORDERS = {"euler": 1, "rk4": 4, "implicitfast": 1}


@dataclass(frozen=True)
class MujocoSettings:
    """Hold integrator and contact parameters.

    Args:
        integrator: `euler`, `rk4` or `implicitfast`. Where it is empty, that is rk4, and
            implicitfast with contacts, through which no integrator is of a high order.
        contact_time: time constant of contacts [s], of which 0 stands for the shortest: softer
            contacts hop less under sliding friction.
        contact_damping: their damping ratio: at 1 they rebound with e^-2 = 0.135 of the speed, at 5
            with 0.010 (`contact.rebound`).

    Raises:
        AccordError: for a value that MuJoCo does not take.
    """

    integrator: str = ""
    contact_time: float = 0.0
    contact_damping: float = 1.0

    def __post_init__(self) -> None:
        name, damping = str(self.integrator).lower(), float(self.contact_damping)
        if name and name not in ORDERS:
            raise AccordError(f"unknown integrator {name}{did_you_mean(name, ORDERS)}")
        if not damping >= 1.0:
            raise AccordError(
                f"engine_options.mujoco.contact_damping is {damping:g}, and must be 1 at least"
            )

    def integrator_of(self, *, contact: bool) -> str:
        """Return the integrator of a model with contacts, or without."""
        return str(self.integrator).lower() or ("implicitfast" if contact else "rk4")

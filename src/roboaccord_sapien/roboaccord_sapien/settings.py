"""Settings of PhysX in the `engine_options` of a scenario: its solver of joint stops."""

from __future__ import annotations

from dataclasses import dataclass

from roboaccord.contract import AccordError, check_switch


@dataclass(frozen=True)
class SapienSettings:
    """Settings of PhysX's solver of joint stops.

    Args:
        tgs: whether the solver is the temporal Gauss-Seidel method, PhysX's default; else the
            projected one.
        position_iterations, velocity_iterations: numbers of iterations of the solver.

    Raises:
        AccordError: for a value that PhysX does not take.
    """

    tgs: bool = True
    position_iterations: int = 10
    velocity_iterations: int = 1

    def __post_init__(self) -> None:
        """Check the values."""
        check_switch("engine_options.sapien.tgs", self.tgs)
        if not (1 <= self.position_iterations <= 255 and 0 <= self.velocity_iterations <= 255):
            limits = "position_iterations must be 1 to 255, and velocity_iterations 0 to 255"
            raise AccordError(f"engine_options.sapien: {limits}")

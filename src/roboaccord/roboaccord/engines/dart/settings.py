"""Settings of DART: the keys below `engine_options.dart`.

A setting may be added: a field with a default, DART's own where it has one, and a line under
`Args:`; simulator.py or model.py brings it into force, and `--set` takes it at once. Refuse in
`__post_init__`, in a line, what DART does not take. Existing names and defaults stay: they are in
scenarios and published figures. SOLVERS must be the solvers that `choose_solver` of model.py knows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from roboaccord.contract.errors import AccordError, check_known, check_switch

SOLVERS = ("dantzig", "nsgs", "fbf")


@dataclass(frozen=True)
class DartSettings:
    """Hold the direction of DART's axes, and how it solves for contacts.

    Args:
        z_axis: direction in the world along which DART's z axis lies. By `dantzig` its friction is
            a box along its own axes, so that it matters; by the others it does not.
        friction_solver: `dantzig`, DART's default; `nsgs` or `fbf`, which take Coulomb's cone as it
            is: a nonsmooth Gauss-Seidel method, and forward-backward-forward splitting.
        friction_iterations: of these two, at most; 100 by DART's own default.
        split_impulse: whether penetrations are corrected apart, without adding to velocities.

    Raises:
        AccordError: for a value that DART does not take.
    """

    z_axis: Sequence[float] = (0.0, 0.0, 1.0)
    friction_solver: str = "dantzig"
    friction_iterations: int = 100
    split_impulse: bool = False

    def __post_init__(self) -> None:
        solver = str(self.friction_solver)
        check_known("unknown engine_options.dart.friction_solver ", solver, SOLVERS)
        if not (isinstance(self.friction_iterations, int) and self.friction_iterations > 0):
            raise AccordError(
                f"engine_options.dart.friction_iterations is {self.friction_iterations}, and must "
                "be a whole number above 0"
            )
        check_switch("engine_options.dart.split_impulse", self.split_impulse)

"""A box on a ramp that friction holds: how fast it creeps down."""

from __future__ import annotations

from roboaccord_bench.problem import Problem, Trial, along
from roboaccord_bench.ramp import box_on_ramp, creep
from roboaccord_bench.scene import Scene

MU, SLOPE = 0.5, 0.3  # a pyramid at 45 degrees slides from 0.354 on


class CreepRamp(Problem):
    """Creep of a box on a ramp, at 0.6 of the slope from which it slides.

    Where friction is soft, as in MuJoCo, the box creeps with R f / b, whatever the step: f is the
    friction of a contact, b = 2 / (d_max time constant) of solref and solimp, and R =
    (1 - d) / (d impratio m), times 1 + mu^2 for a pyramid whose edges all press.
    """

    figure = "creep of a box on a ramp, at 0.6 of the slope from which it slides"
    unit = "m/s"
    source = "0: Coulomb's law on an inclined plane"
    advice = "Choose a solver whose friction is hard, or raise MuJoCo's impratio."
    scale = 1e-3

    def exact(self, **_: float) -> float:
        """Return 0 [m/s]."""
        return 0.0

    def scene(self, **case: float) -> Scene:
        """Return a flat box on a ramp that falls towards the heading."""
        return box_on_ramp((0.4, 0.4, 0.1), MU, SLOPE, **case)

    def series(self, time: float, **_: float) -> tuple[float]:
        """Return no distance [m]."""
        return (0.0,)

    def measure(self, trial: Trial, **case: float) -> float:
        """Return the mean speed down the ramp from 0.5 to 1 s [m/s]."""
        run = trial.start(self.scene(**case))
        for time in run.steps(self.duration):
            trial.record(time, along(case, run.motion("box").position))
        return creep(trial.series)


PROBLEM = CreepRamp()

"""Runs: the loop of simulator and controller, transports, sweeps, and the figures of a run.

Inside are: the loop and the factory of simulators (loop), how a controller is asked (answer) and
paced (pace); inputs from people and bags (inputs); hash, figures and energy balance of a motion
(metrics, energy_book); transports, found by entry points, and the limits under which ROS runs
(runner, ros_limits); many runs from different seeds, and work in parallel (sweep, pieces); output
files and versions of the software (output, versions).

Observers, inputs, figures and transports may be added. What must stay: the order within a tick, on
which the hash of a run depends, and the names in `__init__.pyi` (test_door). This room draws and
prints nothing: test_layout refuses an import of `report` here. Tests: test_loop, test_pace,
test_run_inputs, test_metrics, test_energy, test_sweep, test_pieces; test_motion in test/.
"""

from roboaccord.numerics.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)

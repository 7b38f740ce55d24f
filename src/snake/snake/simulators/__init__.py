"""The snake's reference simulator (the analytical model), and figures of its runs.

reference   the simulator: base, faults, events
steps       Runge-Kutta 4, with impacts located inside each step
sticking    steps with friction that sticks, as contact solvers take them
metrics     speed, effort, cost of transport, steering

Figures may be added in metrics. The reference must not be fitted to an engine, for engines are
judged by it. Tests: test_dynamics, test_stops, test_sticking, test_steering.
"""

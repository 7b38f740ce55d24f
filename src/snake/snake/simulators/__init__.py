"""The snake's reference simulator (the analytical model), and figures of its runs.

reference         the simulator, with joint faults and events
steps             time steps by Runge-Kutta 4, with impacts located inside each step
sticking          time steps with friction that sticks, as contact solvers take them
metrics           figures of a run: speed, cost of transport
steering_figures  figures of a steered run: heading, waypoints

Figures may be added in metrics and steering_figures. The reference must not be fitted to an engine,
for engines are judged by it. Tests: test_dynamics, test_stops, test_sticking, test_steering.
"""

"""The snake's reference simulator (the analytical model), and figures of its runs.

reference         the simulator, with joint faults and events
steps             time steps by Runge-Kutta 4, with impacts located inside each step
sticking          time steps with friction that sticks, as contact solvers take them
among_pegs        time steps with contact of the pegs, set-valued
metrics           figures of a run: speed, cost of transport
peg_figures       figures of a run among pegs
peg_world         Gazebo's world of a scenario with pegs
steering_figures  figures of a steered run: heading, waypoints

Figures may be added in metrics, steering_figures and peg_figures. The reference must not be fitted
to an engine, for engines are judged by it. Tests: test_dynamics, test_stops, test_sticking,
test_steering, test_pegs.
"""

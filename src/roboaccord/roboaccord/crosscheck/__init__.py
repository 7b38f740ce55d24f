"""The cross-check: an engine against the analytical reference, at three levels.

1. accelerations at random states, without time stepping;
2. one control period at a time, from every recorded state;
3. whole trajectories at dt, dt/2, dt/4: agreement is shown by convergence.
"""

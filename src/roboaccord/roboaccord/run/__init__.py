"""Runs: factory of simulators, the loop, runners, sweeps, figures of a run."""

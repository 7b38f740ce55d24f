"""Equations and parameters of the MonkeyBot: a hybrid system of four modes.

parameters    masses, lengths and other numbers, from config/parameters.yaml
coordinates   conversion of states to the plane of the wall and back; the four modes
dynamics      equations of motion, energy and impact, in the frame of one hand
events        functions of the state that end a phase of motion
integrator    error-controlled integration up to an event
hybrid        simulation of a gait, phase by phase
motion        step-by-step simulation, for the reference and for scripts
ensemble      fast simulation of many gaits; uses series, crossings and simd

Numbers may be changed in config/parameters.yaml. The equations are fixed by the report (3.1 to 3.3)
and test_dynamics; the order of their arithmetic by hashes of runs.
"""

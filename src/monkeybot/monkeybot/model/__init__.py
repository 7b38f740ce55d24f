"""Equations and parameters of the MonkeyBot: a hybrid system of four modes.

parameters    the numbers, from config/parameters.yaml
coordinates   states of the workspace to the plane and back; modes
dynamics      motion, energy, flip and impact, in the frame of one hand
events        functions of the state that end a phase
integrator    Dormand and Prince up to an event
hybrid        phases of a gait, one after the other
motion        a motion step by step, for the reference and for scripts
ensemble      many gaits at once; with series, crossings and simd

Numbers may be changed in config/parameters.yaml. The equations are fixed by the report (3.1 to 3.3)
and test_dynamics; the order of their arithmetic by hashes of runs.
"""

"""The Packbot beyond its report: failures found, arms identified, more than recovery.

Studies may be added, as modules of the folders below and commands in setup.cfg; what the report has
and what recovery itself needs must stay in `packbot`.

detection        failed joints from states and efforts; the diagnosis `detected`
identification   the arm's parameters from a motion; the arm as identified
recovery         what a failed arm rests in and keeps; benchmarks/ counts what it reaches
cli              commands of `accord packbot` for all that
"""

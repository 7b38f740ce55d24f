"""The Packbot beyond its report: failures found, arms identified, more than recovery.

detection        failed joints from states and efforts; the diagnosis `detected`
identification   the arm's parameters from a motion; the arm as identified
recovery         what a failed arm rests in and keeps; benchmarks/ counts what it reaches
cli              commands of `accord packbot` for all that
"""

"""The Packbot beyond its report: failures found, arms identified, more than recovery.

detection        failed joints from states and efforts; the diagnosis `detected`
identification   the arm's parameters from a motion; the arm as identified
recovery         equilibria and workspace of a failed arm
cli              commands of `accord packbot`; beside it are the report's figures and `look --hulls`
recorded         what the studies take from recorded runs

Studies may be added, as modules of these folders and commands in setup.cfg. What the report has,
and what recovery itself needs, must stay in `packbot`, which imports none of this. Tests are in
test/packbot_studies.
"""

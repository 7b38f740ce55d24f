"""The command line, for the tests of the Packbot's studies; without the robot there are none."""

from importlib.util import find_spec

if find_spec("packbot"):
    from packbots import accord_here, complaint, figures

    __all__ = ["accord_here", "complaint", "figures"]
else:
    collect_ignore_glob = ["test_*.py"]

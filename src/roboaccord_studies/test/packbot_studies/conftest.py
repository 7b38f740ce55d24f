"""The command line, for the tests of the Packbot's studies; without the robot there are none."""

from importlib.util import find_spec

from robot_commands import accord_here, commands_of

__all__ = ["accord_here", "complaint", "figures"]
figures, complaint = commands_of("packbot")
if not find_spec("packbot"):
    collect_ignore_glob = ["test_*.py"]

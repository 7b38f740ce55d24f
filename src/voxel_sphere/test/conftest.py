"""Commands of the voxel sphere, for its tests."""

from robot_commands import accord_here, commands_of

figures, complaint = commands_of("voxel-sphere", quiet=True)

__all__ = ["accord_here", "complaint", "figures"]

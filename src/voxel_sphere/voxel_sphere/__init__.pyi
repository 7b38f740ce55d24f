from .model import VoxelSphereParameters as VoxelSphereParameters
from .rolling.field import Field as Field
from .rolling.motion import Roller as Roller
from .terrain.generate import surface_parts as surface_parts
from .terrain.recipes import surface_of as surface_of

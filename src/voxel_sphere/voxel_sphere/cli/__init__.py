"""`accord voxel-sphere`: the sphere's own commands, one module each."""

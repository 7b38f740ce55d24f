"""Rolling on voxels: distance fields, contacts, walls, exact integration."""

"""Descriptions: files of a package, parameters, xacro, URDF, meshes."""

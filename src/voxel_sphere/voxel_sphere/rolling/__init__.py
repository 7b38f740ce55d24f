"""Rolling on voxels: the distance to the ground, contacts, walls, and integration.

distance.py, closed_forms.py and field.py give the distance and the normal at each point;
contacts.py and walls.py what a sphere touches and how it goes on. schemes.py, exact.py and
motion.py roll the kinematic sphere, heavy_equations.py, heavy_kernels.py and heavy.py the heavy
one, both a Ball of ball.py; vectors.py has the vector operations of their kernels, path.py the
samples of a run, and montana.py their contact coordinates.

Lengths are in voxels. Schemes and closed forms of the ground may be added. The laws of rolling and
reflection are held by test_voxel_rolling, test_voxel_heavy and test_voxel_walls.
"""

"""Layout of a sphere's state: which entries of the row hold what.

Both spheres begin with the centre (3) [voxels] and the orientation (4), a quaternion x y z w. The
kinematic sphere goes on with the entries TRAVEL to LAST_STEP, the heavy one with VELOCITY and SPIN.
Rows live within a run and are not written to files, so their layout may be changed here.
"""

CENTRE = slice(0, 3)  # [voxels], world frame
ORIENTATION = slice(3, 7)  # x y z w, unit

# The kinematic sphere, by number for its kernels.
TRAVEL = 7  # length of the centre's path so far [voxels]
HOLLOWNESS = 8  # r * curvature of the centre's surface while it is in a groove, else 0
LAST_NORMAL = 9  # the ground's normal before the last step (3)
LAST_STEP = 12  # length of that step [voxels], 0 before the first
KINEMATIC_EXTRA = 6  # entries after the orientation

# The heavy sphere.
VELOCITY = slice(7, 10)  # of the centre, world frame [voxels/s]
SPIN = slice(10, 13)  # angular velocity, world frame [rad/s]

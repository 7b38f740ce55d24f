"""Layout of a sphere's state: the meaning of the entries of its array.

The state of both spheres begins with the centre and the orientation. The kinematic sphere, which
rolls at a given angular velocity, goes on with the entries TRAVEL to LAST_STEP; the heavy one, on
which forces act, with VELOCITY and SPIN. States exist only during a run and are not written to
files, so their layout may be changed here.
"""

CENTRE = slice(0, 3)  # [voxels], world frame
ORIENTATION = slice(3, 7)  # x y z w, unit

# The kinematic sphere: indices for its compiled functions.
TRAVEL = 7  # length of the centre's path so far [voxels]
HOLLOWNESS = 8  # r * curvature of the centre's surface while it is in a groove, else 0
LAST_NORMAL = 9  # the ground's normal before the last step (3)
LAST_STEP = 12  # length of that step [voxels], 0 before the first
KINEMATIC_EXTRA = 6  # entries after the orientation

# The heavy sphere.
VELOCITY = slice(7, 10)  # of the centre, world frame [voxels/s]
SPIN = slice(10, 13)  # angular velocity, world frame [rad/s]

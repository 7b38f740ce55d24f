"""Contact of convex hulls: distances, gaps, impacts and contact forces.

solids        convex hulls, their files and moments
collisions    hulls of the arm, and obstacles
laws          contact laws of a scenario
clearance     distances between hulls, by coal
polyhedra     closest points of triangles, segments and hulls, compiled
features      gaps of vertices, edges and joint limits, compiled
gaps          which gaps are near, with the directions in which they push
forces        contact forces at rest, impacts and friction

A contact law may be added in laws.py. The equations of forces.py are fixed, and engines must get
the same hulls as the reference (the analytical model). Tests: test_packbot_clearance, _hulls,
_reference, _contact_points.
"""

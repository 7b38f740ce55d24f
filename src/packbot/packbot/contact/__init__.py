"""Contact of convex hulls: distances, gaps, impacts and contact forces.

solids        convex hulls, their files and moments
collisions    hulls of the arm, and obstacles
laws          contact laws of a scenario
clearance     distances between hulls, by coal
polyhedra     closest points of triangles, segments and hulls, compiled
features      gaps of vertices, edges and joint limits, compiled
gaps          which gaps are near, and their derivatives
forces        forces of lasting contacts, impulses of impacts
friction      Coulomb friction of both

A contact law may be added in laws.py. The equations of forces.py and friction.py must stay, and
engines must get the same hulls as the engine `reference`. Tests: test_packbot_clearance, _hulls,
_reference, _contact_points.
"""

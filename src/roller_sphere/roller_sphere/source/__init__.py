"""The source: the paper's rig, figures and claims.

The paper's rig and figures stay as it has them; how they are drawn may be changed (figures.py).
"""

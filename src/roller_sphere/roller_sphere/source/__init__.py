"""The source: the paper's rig, figures and claims."""

"""Rules for a URDF: what is wrong in the text, on which line, and its cure, without any engine."""

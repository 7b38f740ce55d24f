"""Search of gaits: optimisation, and adaptation to the ground."""

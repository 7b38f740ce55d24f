"""A two-link brachiating robot with switchable magnets: its hybrid model, gaits and controllers."""

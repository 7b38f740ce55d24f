"""Failed joints: the arm that is left, its rests, and reaching with it."""

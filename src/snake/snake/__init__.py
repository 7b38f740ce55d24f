"""A snake robot: its model, gaits and controllers."""

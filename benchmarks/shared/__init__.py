"""What the workspace shares: models, worlds and layouts made from the robots' descriptions."""

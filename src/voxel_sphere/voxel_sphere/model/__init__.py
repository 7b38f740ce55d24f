"""Parameters of the ball, and its contact laws."""

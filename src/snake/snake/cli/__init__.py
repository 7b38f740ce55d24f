"""`accord snake`: the snake's own commands, one module each."""

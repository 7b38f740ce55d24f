"""`accord packbot`: the Packbot's own commands, one module each."""

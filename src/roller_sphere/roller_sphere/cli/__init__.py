"""`accord roller-sphere`: the roller sphere's own commands, one module each."""

"""`accord monkeybot`: the MonkeyBot's own commands, one module each."""

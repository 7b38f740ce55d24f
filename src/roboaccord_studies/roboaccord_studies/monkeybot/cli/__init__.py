"""Commands that the studies add to `accord monkeybot`, one module each."""

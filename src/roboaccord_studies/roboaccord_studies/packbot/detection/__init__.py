"""Detection of failed joints from their motion and the commanded efforts."""

"""recover"""
def recover_command() -> None:
    """."""

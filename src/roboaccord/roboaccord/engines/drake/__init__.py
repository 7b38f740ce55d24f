"""Drake behind the Simulator interface, for models without contact."""

"""What the report did and claims: its joint clamp and its collapse."""

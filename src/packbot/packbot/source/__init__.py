"""What the report did and claims: its joint clamp, collapse, failed joints and figures."""

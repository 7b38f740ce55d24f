"""The source: the report's joint clamp, its collapse and figures."""

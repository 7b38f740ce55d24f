"""Search of gaits: optimisation, and adaptation to the ground.

Methods of search may be added as modules here; keys of the `--json` of `accord snake adapt` and
`optimise`, the classes' fields, stay.
"""

"""A research runner that owns the optimisation loop."""

__version__ = "0.1.0"

"""Metrics that demand the evidence. One folder each; every folder is also an `evaluate` module."""

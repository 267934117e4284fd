"""Requests to a model: what a row of a data set becomes under a protocol, and what comes back."""

"""Perturbed POPE: is an object there, asked again after its evidence is taken away (arXiv 2605.22903).

Nothing is imported here, so that the processes that make pictures stay light; see `builder`.
"""

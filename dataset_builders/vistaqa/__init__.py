"""VistaQA (arXiv 2605.20676): questions whose evidence is a set of instance masks.

Nothing is imported here, so that the processes that make rows stay light; see `builder`.
"""

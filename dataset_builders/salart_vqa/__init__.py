"""SalArt-VQA (arXiv 2606.12671): is there an artifact in the picture, where, and on what evidence?

Nothing is imported here, so that the processes that make rows stay light; see `builder`.
"""

"""Pictures with exact instance masks, made offline: photographs, drawn scenes and figures.

The samples of the data sets are built from them. Nothing is imported here.
"""

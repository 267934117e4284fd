"""Answers that were made elsewhere: read in the layouts of other programs, joined with rows, made a run."""

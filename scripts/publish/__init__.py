"""Uploading what was built: data set folders and the Spaces of the metrics."""

"""Builders: from upstream files (or nothing, for the samples) to Parquet folders for the Hub."""

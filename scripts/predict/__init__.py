"""Predictions: a data set's rows, asked of a model by a protocol, and written as a run that can be scored."""

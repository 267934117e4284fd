"""Templates of the data sets' cards."""

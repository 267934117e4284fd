"""What a data set says of a score: figures, notes, the whole result; commands print and write it."""

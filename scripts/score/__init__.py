"""`lookcheck score`: predictions and labels in, joined by id; a table, JSON and CSV out."""

"""`lookcheck demo`: a published row, recomputed from the model's own answers."""

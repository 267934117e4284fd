"""Shades: which colour is the picture? A whole data set in one folder, to show what one takes."""

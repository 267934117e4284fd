"""A built folder as a static page to look at."""

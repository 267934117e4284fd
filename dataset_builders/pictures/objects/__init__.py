"""Things to draw: each function paints one instance on a canvas, with its shadow."""

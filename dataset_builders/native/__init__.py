"""Evidence as models write it themselves: boxes, points, polygons, run lengths, and folders of masks."""

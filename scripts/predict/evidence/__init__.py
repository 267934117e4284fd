"""Evidence of VistaQA as masks: segmenters that look for phrases, and one that outlines boxes and points."""

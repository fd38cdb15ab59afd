"""A furnished room, a walk through it, and the two sensors that see it: exact truth for the sample bags."""

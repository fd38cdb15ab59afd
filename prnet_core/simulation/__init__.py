"""The simulator: scenes, ray casting, sensors, partial views, noise."""

"""The demo: the node on a recorded bag, a table and a picture."""

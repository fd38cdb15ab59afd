"""Figures of the network's results, drawn headless to files. Each function returns its measurements."""

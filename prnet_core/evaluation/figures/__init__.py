"""Pictures of what the network does, drawn headless to files. Each function returns what it measured."""

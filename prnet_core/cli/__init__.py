"""The command line of the library."""

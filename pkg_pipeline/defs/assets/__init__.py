"""One file per asset group."""

"""Appending to live sessions and reading them."""

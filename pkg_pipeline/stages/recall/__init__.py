"""Chunks with their words and vectors, and the search over them."""

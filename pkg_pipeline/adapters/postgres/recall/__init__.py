"""The stores of chunks, vectors and recall."""

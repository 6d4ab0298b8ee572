"""The stores of figures, queues and asset checks."""

"""Figures, the queue report, and the checks of each asset."""

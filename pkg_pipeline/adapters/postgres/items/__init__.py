"""Stores of readings and items."""

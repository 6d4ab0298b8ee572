"""Monitoring routes and their answers."""

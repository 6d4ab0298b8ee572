"""Schedules and sensors: what starts runs, and what holds them off."""

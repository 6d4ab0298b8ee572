"""Schedules and sensors: what makes a run begin, and what is held off."""

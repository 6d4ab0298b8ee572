"""The rules of the memory: pure functions and frozen records; no clock, no randomness, no I/O, no framework."""

"""HTTP routes: each parses, calls a stage, renders."""

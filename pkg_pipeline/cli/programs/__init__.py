"""Long-running programs: dev, serve, Dagster's pages, services of a deployment."""

"""Long-running programs: dev, serve, Dagster's pages, one service of a deployment."""

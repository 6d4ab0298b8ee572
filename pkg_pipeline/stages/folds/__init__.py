"""Live sessions → folds and running summaries."""

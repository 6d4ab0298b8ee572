"""Live sessions: when and in which steps they are folded, validation of folds, the running summary (L3)."""

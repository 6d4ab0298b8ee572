"""Control runs: a conversation replayed with and without compression, and the costs."""

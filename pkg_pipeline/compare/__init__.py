"""Control runs: a conversation played with compression and without, and what both cost."""

"""The offline summariser (B1): extractive, deterministic, without key, network or model file. No storage, no prompt.

Its words are in ``languages/``; ``llm`` is its door.
"""

MODEL = "offline-extractive-1"
"""Its name: raised when its answers change, since it is part of what makes a summary stale (B5)."""

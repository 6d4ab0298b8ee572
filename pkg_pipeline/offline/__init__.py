"""The offline summariser (B1): extractive, deterministic, without key, network or model file. Entry point: ``llm``."""

MODEL = "offline-extractive-11"
"""Model name; raised when its answers change, since it decides what is stale (B5)."""

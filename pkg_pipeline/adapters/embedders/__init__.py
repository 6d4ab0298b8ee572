"""Implementations of ``ports.Embedder``: the offline model and OpenAI-compatible endpoints."""

"""The embedders behind ``ports.Embedder``: a model that comes with the package, and any OpenAI-compatible endpoint."""

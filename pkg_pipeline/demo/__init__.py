"""The bundled conversations of ``pkg-pipeline demo``."""

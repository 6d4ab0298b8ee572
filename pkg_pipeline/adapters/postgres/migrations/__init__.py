"""Alembic's migrations, driven from Python."""

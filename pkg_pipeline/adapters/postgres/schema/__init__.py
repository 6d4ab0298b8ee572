"""The tables of schema ``pkg`` as SQLAlchemy Core."""

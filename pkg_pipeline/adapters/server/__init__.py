"""The embedded PostgreSQL: its processes, its data folder, its address."""

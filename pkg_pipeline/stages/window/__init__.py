"""The read of a session's window."""

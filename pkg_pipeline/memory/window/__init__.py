"""The next prompt of a session: which messages are shown, shortened or left out, and in which format."""

"""The next prompt of a session: messages shown, shortened or left out (L4–L6)."""

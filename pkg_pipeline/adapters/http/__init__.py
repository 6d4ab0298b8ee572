"""Access checks in front of HTTP servers."""

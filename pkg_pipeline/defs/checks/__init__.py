"""Asset checks, and what a failing one stops."""

"""Live sessions: when a session is folded, up to where, what a fold holds, its gate, the running summary."""

"""One file per prompt: its VERSION, ``render()`` and answer model. No client."""

"""Live sessions: when one is folded (``triggers``, ``policies``), in which steps, what a fold says and its gate.

The running summary is kept within its limit here too (L3).
Up to where may be cut is ``message.turns``.
"""

"""The next prompt of a session: which messages are shown, cut short or left out (``selection``, L4–L6).

``groups`` counts and pairs, ``rendering`` words each message, ``formats`` writes them for an SDK.
Tokens are counted by whoever calls.
"""

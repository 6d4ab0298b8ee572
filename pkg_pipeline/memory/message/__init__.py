"""One message or a row of them: content blocks, importance, whom it belongs to, where a chat may be cut.

Also what leaves the hot table (``archiving``) and what an export shows to be deleted (``deletions``).
What messages add up to is ``summary`` and ``session``.
"""

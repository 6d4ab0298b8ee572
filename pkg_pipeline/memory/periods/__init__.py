"""Times in a question: which words name a period or an event, and which UTC interval each means.

``questions`` reads a question; the words are in ``languages/*/periods.toml``, their calendar in ``days``.
Finding anything by a period is ``recall``.
"""

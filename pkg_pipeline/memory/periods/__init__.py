"""Times in a question: which words name a period, and which UTC interval each means."""

"""Times in a question: which words name a period or an event, and which UTC interval each means."""

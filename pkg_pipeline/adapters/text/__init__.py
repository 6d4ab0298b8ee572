"""Counting tokens and reading terms, by tiktoken and Snowball."""

"""Parsers of export files, one per format: bytes in, records out, nothing stored."""

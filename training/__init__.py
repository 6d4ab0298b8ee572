"""Labelled talks of our own, the score of the offline reader on them, and the fit of its weights."""

"""Recall: chunks, term weights, vector codes, ranking, the printed block, validation of rewritten questions."""

"""Recall: chunks of text, their term weights and vector codes, ranking, the printed block.

``rewrite_gate`` checks the phrasings a model proposes for a question.
The search itself is the store's.
"""

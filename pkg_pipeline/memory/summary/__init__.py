"""Summaries of interactions: their gate, updates, splitting and merging of long ones (P13, P18, P27).

``reconciliation`` keeps ids and states of items from one version to the next (P28).
Asking a model and storing are the stage's business.
"""

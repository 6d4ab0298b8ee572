"""Relationship profiles: weeks, frequency of contact, what a prompt holds, and the gate of the worded part (P20–P23).

``topics`` merges key points over spelling, case and script.
What is counted never comes from a model.
"""

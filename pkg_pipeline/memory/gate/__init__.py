"""What all gates share: evidence and quotes, foreign content, orders to the model, the verdict on one item (B9, B15).

``checker`` prepares one conversation; candidates and results are in ``records``.
The gate of a noun stands beside the noun: ``summary.gate``, ``session.fold_gate``, ``profile.gate``, ``recall``.
"""

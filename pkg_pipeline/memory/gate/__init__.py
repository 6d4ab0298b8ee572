"""Answer validation shared by all gates (B9, B15): evidence, foreign content, instructions, single items.

The gates themselves: ``summary.gate``, ``session.fold_gate``, ``profile.gate``, ``recall.rewrite_gate``.
"""

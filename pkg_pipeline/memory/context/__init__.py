"""Context blocks: what each tier asks for (``assembly``), who gets how many tokens (``budget``), the printed lines.

Only arithmetic and words: rows come from the stage, token counts from whoever calls.
"""

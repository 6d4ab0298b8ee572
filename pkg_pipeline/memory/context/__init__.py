"""Context blocks: what each tier asks for (``assembly``), its token share (``budget``), the printed lines."""

"""Context blocks: what each tier asks for, token budgets, the printed lines."""

"""``/v1/sessions``: routes, bodies, answers."""

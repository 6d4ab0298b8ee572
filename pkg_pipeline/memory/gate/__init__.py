"""What all gates share: evidence, quotes, foreign content, orders to the model."""

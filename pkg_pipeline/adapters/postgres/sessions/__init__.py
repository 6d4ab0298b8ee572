"""The stores of live sessions, folds and windows."""

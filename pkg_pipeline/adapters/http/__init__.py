"""What stands before an HTTP port: who may come in, and from which pages."""

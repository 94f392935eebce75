"""What a pipeline's directory holds, and where."""

"""What is no model: finding and sizing models, mutants, traces and verdicts."""

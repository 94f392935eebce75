"""Mistakes in snapshots, under the names of the models' files."""

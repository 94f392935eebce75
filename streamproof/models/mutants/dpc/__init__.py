"""Mistakes in DPC nodes, under the names of the models' files."""

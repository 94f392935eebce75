"""Diagrams: a run of a model as a space-time diagram, for the documentation and for reports."""

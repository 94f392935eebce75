"""Fault-tolerance protocols for streams: checked, proven, and run in PySpark from one text."""

__version__ = "0.1.0"

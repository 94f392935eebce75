"""Channels: durable FIFOs between queries, written, read and kept short."""

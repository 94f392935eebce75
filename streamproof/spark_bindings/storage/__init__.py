"""How bytes outlive a crash: JSON, parquet and Delta files, written, synced and read."""

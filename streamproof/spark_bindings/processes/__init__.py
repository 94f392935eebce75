"""The processes of a pipeline: what they write about themselves, and how they are.

================  ====================================================================
`heartbeat`       a count that a process writes, and that others watch
`order_log`       which lane each turn of a pair takes
`process_status`  how each process is, by its lock, its heartbeat and its order log
================  ====================================================================
"""

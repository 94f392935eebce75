"""Hot standby: a query runs as a pair of copies, and either takes over from the other.

Each copy is a driver process of its own, with its own checkpoint. Both take the same turns:
micro-batch n of either reads what turn n of the *order log* says. One of them is *primary*: it
chooses the turns, and commits what they give to the output channel. The other copy keeps what it
gives, until it sees it committed, or takes over. What is decided, the machines of
`protocols.merge_order` and `protocols.egress` decide.

==================  ======================================================================
`merge_order`       the machine that chooses turns, or follows them
`throttle`          how soon the primary chooses
`partitioning`      which rows a partition of a query takes
`turn_source`       the streaming source that reads a turn
`client`            the output channel: what was delivered, and which copy is primary
`egress`            the machine that delivers outputs, or buffers them
`digest`            whether both copies gave the same rows, and which rows differ
`determinism`       plans that could not
`continuation`      whether a copy may go on
`catch_up`          a new copy begins in the survivor's state
`copy_run`          one copy, from start to end
`unreplicated_run`  the queries without a standby
`child_process`     a process, and whether it has ended, is silent or beats
`supervisor`        all processes of a pipeline on one machine
`pipeline_file`     the file that defines the pipeline
==================  ======================================================================

The pair's directory, its locks and its output buffer are in `layout`; its order log, heartbeats and
status in `processes`.

Nothing is imported here: Spark's workers need one module of it, and should start fast.
"""

"""Hot standby: a query runs as a pair of copies, and either takes over from the other.

Each copy is a driver process of its own, with its own checkpoint. Both take the same turns:
micro-batch n of either reads what turn n of the *order log* says. One of them is *primary*: it
chooses the turns, and commits what they give to the output channel. Its twin keeps what it gives,
until it sees it committed, or takes over. What is decided, the machines of `protocols.merge_order`
and `protocols.egress` decide.

==================  ======================================================================
`copies`            the two copies, and the directory of a pair
`order_log`         which lane a turn takes, and up to where
`merging`           the machine that chooses turns, or follows them
`pace`              how soon a leader chooses
`partitioning`      which rows a partition of a query takes
`turn_source`       the streaming source that reads a turn
`kept`              outputs of turns that may not be delivered yet
`client`            the output channel: what was delivered, and who is primary
`giving`            the machine that delivers outputs, or keeps them
`failpoints`        where tests kill a copy
`digest`            whether both copies gave the same rows, and which rows differ
`determinism`       plans that could not
`heartbeat`         whether the twin is alive
`lock`              that one process runs a copy
`catch_up`          a new copy begins in the survivor's state
`incarnation`       whether what a copy has acknowledged still counts
`copy_run`          one copy, from start to end
`alone_run`         the queries without replicas
`watched`           a process, and whether it has ended, is silent or beats
`supervisor`        all processes of a pipeline on one machine
`standing`          how they are, seen from outside
`pipeline_file`     the file that defines it
==================  ======================================================================

Nothing is imported here: Spark's workers need one module of it, and should start fast.
"""

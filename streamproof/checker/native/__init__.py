"""The native engine: a traced model, ground for a size and compiled, over states packed in words.

::

    memory      the addresses of arrays for compiled code, and guards around arrays
    code        a model at a size as compiled functions: `code.program`
    kernels     loops that are the same for all models, compiled once for a machine
    table       the visited states, and how they are found again
    partition   one thread's share of them
    worker      the states that a thread expands, and what it writes
    team        the threads
    search      level by level, through all partitions
    narrow      many levels of few states by one call
    paths       the way that a search went, as steps of the model
    liveness, components, premises   what is asked of all states together
    checkpoint  a directory in which a search is kept, and how it goes on from there
    engine      what the checker calls to search
    walks       what it calls for random walks
"""

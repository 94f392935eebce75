"""The native engine: a traced model, ground for a size and compiled, over states packed in words.

::

    cells       what a state consists of, and states as numbers
    terms       ground terms, each kept once
    translate   expressions of the traced form -> terms
    grounding   a traced model at a size -> terms
    layout      cells -> bits of words
    block, loops, codegen   terms -> LLVM
    expressions, rolled     the traced form -> LLVM with loops over elements, for large sizes
    symmetry, canonical     which elements are alike, and LLVM that makes one state of an orbit
    machine_code            LLVM -> functions, kept on disk
    program     all of that, for a model
    table       the visited states, and how they are found again
    partition   one thread's share of them
    search      level by level, through all partitions
    paths       the way that a search went, as steps of the model
    liveness, components, premises   what is asked of all states together
    files, manifest, checkpoint   a directory in which a search is kept, and whose it is
    keeper, resume   when and what is written there, and how a search goes on from it
    engine      what the checker calls to search
    walks       what it calls for random walks
"""

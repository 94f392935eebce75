"""A traced model at a size, as functions over packed states.

::

    cells       what a state consists of, and states as numbers
    layout      cells -> bits of words
    terms       ground terms, each kept once
    translate   expressions of the traced form -> terms
    grounding   a traced model at a size -> terms
    block, loops, codegen   terms -> LLVM
    expressions, rolled     the traced form -> LLVM with loops over elements, for large sizes
    alike, symmetry, canonical  which elements are alike, and LLVM that makes one state of an orbit
    machine_code            LLVM -> functions, kept on disk
    program     all of that, for a model
"""

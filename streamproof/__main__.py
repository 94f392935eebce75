"""`python -m streamproof`: the command of the same name."""

from streamproof.cli import main

main()

"""``python -m equivoc.cli``."""

from equivoc.cli import main

main()

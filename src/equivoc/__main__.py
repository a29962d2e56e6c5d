"""``python -m equivoc``."""

from equivoc.cli import main

main()

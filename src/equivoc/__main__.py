"""``python -m equivoc``."""

from equivoc.cli.main import main

main()

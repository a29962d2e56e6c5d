"""One file per technique: how it makes a release, and what linkage and channel an intruder has then."""

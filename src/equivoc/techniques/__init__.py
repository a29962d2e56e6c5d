"""One file or folder per technique: how it makes a release, and the intruder's linkage and channel."""

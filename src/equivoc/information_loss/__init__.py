"""How much a release loses for those who use it: each measure is 0 for the unprotected file and grows with damage."""

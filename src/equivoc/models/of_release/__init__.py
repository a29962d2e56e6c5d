"""Classic measures of a release: guessing, record linkage, attacks with a control group."""

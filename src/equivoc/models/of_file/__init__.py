"""Classic measures of a file: k-anonymity and its kin, risk of identification, uniques behind a sample."""

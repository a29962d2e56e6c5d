"""The learned intruder: priors learnt from the released records, by chains or forests."""

"""Studies: many techniques, parameters, intruders and replicates."""

"""From posteriors to answers: one assessment, and studies of many."""

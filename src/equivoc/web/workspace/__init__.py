"""The private folder of the page: the state, uploads, hierarchies, jobs."""

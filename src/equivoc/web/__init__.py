"""The page of `equivoc serve`: routes, the private folder, warm processes, jobs. It only calls the library."""

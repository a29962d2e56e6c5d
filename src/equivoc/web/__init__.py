"""The page of `equivoc serve`: a local web server over the same facts as the commands. It only calls the library."""

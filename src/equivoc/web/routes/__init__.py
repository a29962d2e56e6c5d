"""The routes of the server; each calls one function of the other rooms."""

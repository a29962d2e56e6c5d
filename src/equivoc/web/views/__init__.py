"""Facts for the views of the page."""

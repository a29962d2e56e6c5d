"""A result to hand over: facts, then figures, then the page."""

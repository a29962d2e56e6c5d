"""The report of a result: facts, their wording, and the HTML page."""

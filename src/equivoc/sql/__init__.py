"""From SQL text to questions: which people each statement is about, and its answers."""

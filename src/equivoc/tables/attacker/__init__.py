"""What an attacker can compute about the suppressed cells of a table."""

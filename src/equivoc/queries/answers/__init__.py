"""What answers to aggregate queries say about people's confidential values: questions, atoms, constraints."""

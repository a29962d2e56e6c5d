"""The probability of each value, given the answers: exactly where that is feasible, else by a Gibbs chain."""

"""Attacks on a released table, synthetic data above all, judged with a control group."""

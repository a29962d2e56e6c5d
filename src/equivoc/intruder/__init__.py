"""The intruder: who she links a target to, and what the release tells her about that person."""

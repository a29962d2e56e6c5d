"""The gateway as an HTTP service: tokens, rate limits, the questions, and the owner's page of the log."""

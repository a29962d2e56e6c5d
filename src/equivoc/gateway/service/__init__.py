"""The gateway as an HTTP service: who may ask and how often, the log, the look back."""

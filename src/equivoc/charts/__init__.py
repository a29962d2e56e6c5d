"""Every chart, made from plain data."""

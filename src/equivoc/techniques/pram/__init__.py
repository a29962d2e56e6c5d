"""PRAM: values changed at random by a known matrix."""

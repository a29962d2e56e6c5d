"""The mildest setting of a technique that meets the requirements, and the best of several techniques."""

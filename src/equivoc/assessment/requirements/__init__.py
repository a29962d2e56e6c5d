"""Requirements: limits that the figures of a release must keep before it may be published."""

"""Many releases: studies, comparisons and choices, their runs and stores, the paper's experiment."""

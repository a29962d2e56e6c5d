"""Long work in processes of its own: progress, cancel, resume."""

"""All charts."""

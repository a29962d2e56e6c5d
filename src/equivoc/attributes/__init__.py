"""What a confidential attribute is: its kind, its domain, and what "close" means for its values."""

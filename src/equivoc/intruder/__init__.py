"""The intruder: linkage of released records to a target, channels, releases and posteriors."""

"""What single techniques need: kernels, searches, the posteriors of their intruders."""

"""The protected file, the certificate beside it, and the check that the certificate holds."""

"""The warm process that holds the people and answers while a person tries settings."""

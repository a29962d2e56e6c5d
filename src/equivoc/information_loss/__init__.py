"""What a release loses: errors of counts and queries, of models, of tables."""

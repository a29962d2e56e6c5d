"""What reads and counts: SQL built once, run by a thin executor per engine."""

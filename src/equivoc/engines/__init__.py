"""Engines that read and count: SQL built once, with a thin executor per engine."""

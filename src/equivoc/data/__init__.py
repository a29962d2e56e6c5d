"""Microdata: tables of any kind as levels and codes, roles of columns, classes, counts for any subset of the keys."""

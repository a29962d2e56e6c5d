"""The arithmetic of the intruders: linkage and learning as functions of arrays, and the truth held against beliefs."""

"""Tables of counts and sums: cells, margins, unsafe cells, and how they are protected."""

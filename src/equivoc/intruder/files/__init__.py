"""Files released by any means: reading their symbols, linking their records."""

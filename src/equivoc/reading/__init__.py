"""How a file is read: separator, encoding, notation of numbers, missing words; guessed from all of it, and said."""

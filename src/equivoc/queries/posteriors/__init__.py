"""What the answers leave possible for a person of each atom, with probabilities; draws of whole databases."""

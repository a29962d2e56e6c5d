"""What released symbols tell about a value: likelihoods of mechanisms, and the posterior that a prior makes of them."""

"""What an expression may be: abstract interpretation over a small lattice."""

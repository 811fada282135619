"""Solves Leduc hold'em by counterfactual regret minimisation, and measures exactly how far a strategy is from perfect play."""

"""What the solver has to get right; run by `python -m unittest discover -s tests -t .` from the experiment's directory."""

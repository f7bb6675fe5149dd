"""The paper's experiments; ``python -m poolwise.experiments`` runs those that are here."""

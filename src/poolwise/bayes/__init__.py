"""The pieces of Bayes pooling, in the order in which data meets them; see ``methods``."""

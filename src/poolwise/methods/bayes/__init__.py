"""The parts of Bayes pooling: scaling, priors, imputation, conflict, evidence, and the model."""

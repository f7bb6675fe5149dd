"""The parts of Bayes pooling: scaling, imputation, pseudo-rows, evidence, settings."""

"""The estimator: fitting, prediction, summaries, model files and exports."""

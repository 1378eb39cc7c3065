"""The estimator, in scikit-learn's manner."""

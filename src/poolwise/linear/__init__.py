"""Linear fits from moments: least squares, the problem of pooling, noise, intervals, theory."""

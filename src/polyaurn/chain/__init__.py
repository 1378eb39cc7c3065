"""What a sweep is: state, priors, schedule, samplers, steps, and the one loop."""

"""Compiled steps for the CPU."""

"""Measured power: engines that are wrong on purpose, and how many cases of the default campaign it takes to find each out."""

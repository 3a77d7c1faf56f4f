"""Shipping: trained policies as files that run without Godojo, smaller students, model cards, and the addon."""

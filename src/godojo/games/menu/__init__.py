"""Test a VR settings menu with a pointer: every screen, every element, and settings that are kept."""

"""A run as one page that needs nothing else: `page` puts it together, `viewer.js` shows its rounds in 3D."""

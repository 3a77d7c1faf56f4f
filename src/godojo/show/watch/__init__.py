"""The page in the browser: `rounds` plays them, `scene` draws them, `page` has the controls, `gate` is its door."""

"""Showing what was learnt: replays, charts, the page in the browser, films and reports."""

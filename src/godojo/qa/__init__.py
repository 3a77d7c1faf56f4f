"""The QA line: thresholds of trainings, evaluations as files, baselines, regressions, reports ([docs](docs/qa.md))."""

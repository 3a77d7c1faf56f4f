"""Human-readable numbers."""


def counted(value: float) -> str:
    """Three digits and a unit: 7, 950, 12.3 k, 2.5 M."""
    for size, letter in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if abs(value) >= 0.9995 * size:  # 1000 after rounding is 1 of the next unit
            return f"{value / size:.3g}{letter}"
    return f"{value:.3g}"

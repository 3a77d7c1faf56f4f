# --- absolute and sign
func test():
	return [absi(-3), abs(4), sign(-9), signi(3), sign(0), abs(-7)]
func test_float():
	return [abs(-3.5), absf(2), sign(-0.1), signf(5), sign(0.0), abs(-0.0)]
# --- rounding
func test():
	return [floor(2.7), floor(-2.1), ceil(2.1), ceil(-2.9), round(2.5), round(-2.5), round(0.49999999999999994), round(3.49)]
func test_int():
	return [floori(2.7), ceili(2.1), roundi(2.5), roundi(-2.5), floori(-0.5), floor(5)]
# --- smallest and largest
func test():
	return [min(3, 1, 2), max(3, 1, 2), mini(4, 5), maxi(4, 5), clamp(7, 0, 5), clampi(-3, 0, 5)]
func test_float():
	return [min(3.5, 1.5), max(3.5, 1.25, 7.0), minf(4, 5), maxf(4, 5.5), clamp(0.7, 0.0, 0.5), clampf(-3, 0, 5)]
# --- trigonometry
func test():
	return [sin(0.5), cos(0.5), tan(0.5), asin(0.5), acos(0.5), atan(0.5), atan2(1.0, -2.0), sin(1000.0), cos(PI)]
func test_clamped():
	return [asin(2.0), acos(-2.0), acos(2.0), asin(-1.5), atan2(0.0, -0.0)]
# --- hyperbolic
func test():
	return [sinh(0.5), cosh(0.5), tanh(0.5)]
# --- exponents
func test():
	return [exp(1.5), log(10.0), sqrt(2.0), pow(2.0, 0.3), pow(2, 3), sqrt(16), exp(-1000.0), log(0.0)]
func test_outside():
	return [sqrt(-1.0), log(-1.0), pow(-8.0, 0.3), exp(1000.0)]
# --- remainders
func test():
	return [fmod(7.5, 2.0), fmod(-7.5, 2.0), fposmod(-7.5, 2.0), fposmod(7.5, -2.0), fposmod(6.0, 2.0), fmod(5, 3)]
func test_int():
	return [posmod(-7, 3), posmod(7, -3), posmod(-6, 3), posmod(8, 5)]
# --- angles
func test():
	return [deg_to_rad(90.0), rad_to_deg(1.0), deg_to_rad(45), angle_difference(0.1, 6.2), angle_difference(3.0, -3.0)]
func test_lerp():
	return [lerp_angle(0.1, 6.2, 0.3), rotate_toward(0.1, 6.2, 0.05), rotate_toward(0.0, 1.0, 5.0), rotate_toward(0.0, 1.0, -9.0)]
# --- interpolation
func test():
	return [lerp(1.0, 3.0, 0.25), lerp(1, 4, 0.5), lerpf(0, 10, 0.1), inverse_lerp(2.0, 4.0, 3.5), remap(5, 0, 10, 100, 200)]
func test_smooth():
	return [smoothstep(0.0, 2.0, 0.5), smoothstep(1.0, 1.0, 2.0), smoothstep(0, 1, 7), smoothstep(2.0, 0.0, 0.5)]
# --- towards
func test():
	return [move_toward(1.0, 5.0, 0.7), move_toward(5.0, 1.0, 0.7), move_toward(1.0, 1.2, 0.7), move_toward(0, 10, 3)]
# --- wrapping
func test():
	return [wrapf(7.5, 0.0, 5.0), wrapf(-1.0, 0.0, TAU), wrapf(5.0, 0.0, 5.0), wrapf(3.0, 2.0, 2.0), wrap(1.5, 0.0, 1.0)]
func test_int():
	return [wrapi(7, 0, 5), wrapi(-1, 0, 5), wrapi(5, 0, 5), wrapi(3, 2, 2), wrap(12, 3, 9)]
func test_pingpong():
	return [pingpong(3.2, 1.5), pingpong(-0.3, 1.0), pingpong(2.0, 0.0)]
# --- snapping
func test():
	return [snapped(3.14159, 0.01), snapped(7.3, 2.5), snappedf(-1.3, 0.5), snapped(3.3, 0.0)]
func test_int():
	return [snappedi(7.6, 5), snapped(13, 5)]
# --- about equal
func test():
	return [is_equal_approx(0.1 + 0.2, 0.3), is_equal_approx(1000.0, 1000.02), is_zero_approx(1e-6), is_zero_approx(1e-4)]
func test_special():
	return [is_nan(NAN), is_inf(INF), is_inf(-INF), is_finite(1.5), is_finite(INF), is_equal_approx(INF, INF)]
# --- constants
func test():
	return [PI, TAU, INF, -INF, PI / 180]
# --- a spring
var x = 1.0
var v = 0.0
func test():
	for i in 200:
		v += (-4.0 * x - 0.3 * v) * 0.016
		x += v * 0.016
	return [x, v]
# --- angles around a circle
func test():
	var total = 0.0
	for i in 360:
		total += sin(deg_to_rad(i)) * cos(deg_to_rad(i * 2)) + atan2(i - 180, i + 1)
	return total
# --- newton's root
func root(a: float) -> float:
	var guess := a
	while absf(guess * guess - a) > 1e-12 * a:
		guess = 0.5 * (guess + a / guess)
	return guess
func test():
	return [root(2), root(1e6), root(0.3)]

// Division and square root rounded to the nearest float, like IEEE 754 and C++, so that the CPU
// twins are bit-identical. Vulkan allows 2.5 units in the last place for division, and derives the
// square root's error from it.
//
// The remainder chooses the nearest neighbour of an approximation. Dekker's product ("A
// floating-point technique for extending the available precision", 1971) gives it exactly.
// Arguments and results are positive and neither denormal nor infinite.

#ifndef QUADTILE_BAKER_EXACT_GLSL
#define QUADTILE_BAKER_EXACT_GLSL

// Returns minuend - a * b if that is small; all are between 1/4 and 4.
float remainder_of(float minuend, float a, float b) {
    precise const float ca = 4097.0 * a;
    precise const float a_high = ca - (ca - a);
    precise const float a_low = a - a_high;
    precise const float cb = 4097.0 * b;
    precise const float b_high = cb - (cb - b);
    precise const float b_low = b - b_high;
    precise const float product = a * b;
    precise const float error =
        ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low;
    precise const float remainder = (minuend - product) - error;
    return remainder;
}

float neighbour(float value, int step) {
    return uintBitsToFloat(uint(int(floatBitsToUint(value)) + step));
}

int exponent_of(float value) {
    return int(floatBitsToUint(value) >> 23) - 127;
}

// Returns value * 2^exponent.
float scaled(float value, int exponent) {
    return uintBitsToFloat(uint(int(floatBitsToUint(value)) + (exponent << 23)));
}

float quotient(float dividend, float divisor) {
    const int dividend_exponent = exponent_of(dividend);
    const int divisor_exponent = exponent_of(divisor);
    const float a = scaled(dividend, -dividend_exponent);
    const float b = scaled(divisor, -divisor_exponent);
    const float guess = a / b;
    float nearest = guess;
    float least = abs(remainder_of(a, guess, b));
    for (int step = -3; step <= 3; ++step) {
        const float candidate = neighbour(guess, step);
        const float remainder = abs(remainder_of(a, candidate, b));
        if (remainder < least) {
            least = remainder;
            nearest = candidate;
        }
    }
    return scaled(nearest, dividend_exponent - divisor_exponent);
}

float square_root(float value) {
    const int half_exponent = exponent_of(value) >> 1;
    const float a = scaled(value, -2 * half_exponent);  // 1 to 4
    const float guess = sqrt(a);
    float nearest = guess;
    float least = abs(remainder_of(a, guess, guess));
    for (int step = -3; step <= 3; ++step) {
        const float candidate = neighbour(guess, step);
        const float remainder = abs(remainder_of(a, candidate, candidate));
        if (remainder < least) {
            least = remainder;
            nearest = candidate;
        }
    }
    return scaled(nearest, half_exponent);
}

#endif

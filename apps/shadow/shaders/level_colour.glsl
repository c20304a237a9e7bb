// Colours of levels, as in the renderer's shade.comp: neighbours differ in hue, none is dark.

vec3 level_colour(uint level) {
    const float hue = float(level) * 0.381966;  // the golden angle
    return 0.55 + 0.45 * cos(6.2831853 * (hue + vec3(0.0, 0.33, 0.67)));
}

// A tile's importance as a colour, and its outline.
#version 460

layout(location = 0) flat in uvec2 first_pixel;
layout(location = 1) flat in float importance;
layout(location = 0) out vec4 colour;

void main() {
    const float bright = clamp(log2(importance) / 3.5 + 0.6, 0.0, 1.0);  // 0.3 to 2 texels along a side
    const vec3 shown = mix(mix(vec3(0.08, 0.06, 0.25), vec3(0.85, 0.3, 0.25), smoothstep(0.0, 0.6, bright)),
                           vec3(1.0, 0.95, 0.6), smoothstep(0.5, 1.0, bright));
    const bool outline = any(equal(uvec2(gl_FragCoord.xy), first_pixel));
    colour = vec4(outline ? 0.6 * shown : shown, 1.0);
}

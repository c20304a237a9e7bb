// Faults of CPU drivers that kernels work around, with the reason of each. The places that do so name the fault.
//
//   LOST_THREADS   lavapipe (Mesa 22.3) loses threads if a branch leads into a loop, and if threads leave loops early
//                  after some barriers. So the two loops below are unrolled by the preprocessor. A downsampler refuses
//                  custom reductions of large images with odd edges in one dispatch on CPU drivers (downsampler.cpp).
//   SLOW_CHOICES   SwiftShader takes two or more times as long to compile a kernel in which functions that are called
//                  at many places choose by a specialization constant. So kernels with one case have no choice.
//   EAGER_IMAGES   SwiftShader also reads images in branches that are not taken, at any index. So indices have a bound.

// Calls F for the bits of an index below 256, from the highest on.
#define FOR_BITS_OF_256(F) F(128) F(64) F(32) F(16) F(8) F(4) F(2) F(1)

// Calls F for the 3 x 3 nodes around a node: with their place and the bit of their mask that points at it.
#define FOR_NODES_AROUND(F) F(-1, -1, 8) F(0, -1, 7) F(1, -1, 6) F(-1, 0, 5) F(0, 0, 4) F(1, 0, 3) \
                            F(-1, 1, 2) F(0, 1, 1) F(1, 1, 0)

#include <quadtile/error.hpp>

#include "glsl/user_kernels.hpp"
#include "support/errors.hpp"

#include <gmock/gmock.h>

#include <cstddef>
#include <cstdint>
#include <future>
#include <string>
#include <utility>
#include <vector>

namespace quadtile {
namespace {

using detail::CodeForm;
using detail::compile_glsl;
using detail::compile_kernel;
using detail::UserSource;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using namespace std::string_literals;

using Words = std::vector<std::uint32_t>;

// Its lines 10 and 11 come behind the user's text.
constexpr const char* KERNEL = R"(#version 460
#extension GL_GOOGLE_include_directive : require
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer Values { float values[]; };

#if BEFORE
float scale(float a) { return 2.0 * a; }
#endif
#include "user_reduction.glsl"
void main() {
    values[0] = reduce(values[1], values[2]);
}
)";

UserSource user(const std::string& text) {
    return {"user_reduction.glsl", "reduction", text};
}

#if QUADTILE_RUNTIME_GLSL

Words compile(const std::string& text) {
    return compile_glsl("test.comp", KERNEL, {{"BEFORE", "1"}}, user(text), CodeForm::optimised);
}

// Returns the messages on a text, without the first line, which says that it does not compile.
template <typename Call>
std::string refusal(const Call& call) {
    const std::string text = test::refusal_of(call);
    return text.substr(text.find('\n') + 1);
}

std::string complaint(const std::string& text) {
    return refusal([&] { return compile(text); });
}

// The first words of a module: magic number, version 1.5.
void expect_spirv(const Words& words) {
    ASSERT_GT(words.size(), 5U);
    EXPECT_EQ(words[0], 0x07230203U);
    EXPECT_EQ(words[1], 0x00010500U);
}

constexpr const char* MEAN = "float reduce(float a, float b) { return 0.5 * (a + b); }\n";

TEST(GlslCompiler, CompilesAKernelOfTheLibraryInItsVariants) {
    const Words without =
        compile_kernel("subtree", {{"SUBGROUPS", "0"}}, user(""), CodeForm::optimised);
    const Words with =
        compile_kernel("subtree", {{"SUBGROUPS", "1"}}, user(""), CodeForm::optimised);
    expect_spirv(without);
    expect_spirv(with);
    EXPECT_NE(without, with);
    EXPECT_THROW((void)compile_kernel("subtrees", {}, user(""), CodeForm::optimised), Error);
}

// However a text ends, whatever it may use: what the kernel has before it, headers, extensions.
TEST(GlslCompiler, PutsTheTextIn) {
    const Words expected = compile(MEAN);
    for (const std::string& same :
         {"float reduce(float a, float b) { return 0.5 * (a + b); }"s, MEAN + "// the mean"s,
          "float reduce(float a, float b) { return 0.5 * (a + b); } \\"s, MEAN + "// the mean \\"s,
          MEAN + "// the mean \\\n"s,
          "float reduce(float a,\r\n float b) { return 0.5 * (a + b); }\r\n"s}) {
        EXPECT_EQ(compile(same), expected) << same;
    }
    for (const std::string& other :
         {"float reduce(float a, float b) { return a * b; }"s,
          "float reduce(float a, float b) { return scale(a); }"s,
          "#include \"quadtile/limits.h\"\n"
          "float reduce(float a, float b) { return a + b + float(MAX_TOP_LEVEL); }"s,
          "#extension GL_KHR_shader_subgroup_arithmetic : require\n"
          "float reduce(float a, float b) { return subgroupAdd(a + b); }"s,
          "float reduce(float a__a, float b) { return a__a + b; }"s,  // only warned of
          "#if X // #if\n/* #endif\n#endif */ nonsense\n#elif 0\n#else\n"s + MEAN +
              "  #endif\n// \\\n#endif"}) {
        expect_spirv(compile(other));
    }
    EXPECT_THAT(complaint("float reduce(float a__a, float b) { return c; }"),
                Not(HasSubstr("warning")));
}

// Errors have the lines of the caller's text, whatever is wrong with it. Catches line numbers of
// the kernel, errors without a line, and texts that reach into the kernel.
TEST(GlslCompiler, TellsWhatIsWrongWhere) {
    const std::string undeclared = ": error: 'c' : undeclared identifier";
    const std::string missing = "'reduce' : no matching overloaded function found";
    const std::string stage = "reduction: error: Linking compute stage: ";
    const auto behind_the_end = [](int line, const std::string& place, const std::string& what) {
        return "reduction:" + std::to_string(line) + ": error: only where " + place +
               " uses this text: " + what +
               "\n(Is a bracket left open, or has the function that the kernel calls another name "
               "or other arguments here?)";
    };
    std::string many = "float reduce(float a, float b) {\n";
    std::string of_many;
    for (int i = 0; i < 8; ++i) {
        const std::string name = "c" + std::to_string(i);
        many += "    a += " + name + ";\n";
        of_many += i < 5 ? "reduction:" + std::to_string(i + 2) + ": error: '" + name +
                               "' : undeclared identifier\n"
                         : "";
    }
    const std::pair<std::string, std::string> rows[] = {
        {"float reduce(float a, float b) { return c; }", "reduction:1" + undeclared},
        {"\n\nfloat reduce(float a, float b) {\n    return c;\n}\n", "reduction:4" + undeclared},
        {"\r\n\r\nfloat reduce(float a, float b) {\r\n    return c;\r\n}\r\n",
         "reduction:4" + undeclared},
        {"float reduce(float a, \\\n float b) {\n    return c;\n}\n", "reduction:3" + undeclared},
        // Lines of an included header do not count.
        {"#include \"quadtile/limits.h\"\nfloat reduce(float a, float b) { return c; }",
         "reduction:2" + undeclared},
        {"float reduce(float a, float b)\n{ return a }\n",
         "reduction:2: error: '' :  syntax error, unexpected RIGHT_BRACE, expecting COMMA or "
         "SEMICOLON"},
        {many + "    return a;\n}\n", of_many + "and 3 more"},
        // An open brace, and what the kernel lacks or has already.
        {"float reduce(float a, float b) {\n    return a;\n\n",
         behind_the_end(2, "test.comp:10",
                        "'' :  syntax error, unexpected LEFT_BRACE, expecting SEMICOLON")},
        {"", behind_the_end(1, "test.comp:11", missing)},
        {"\n\n", behind_the_end(1, "test.comp:11", missing)},
        {"float mean(float a, float b) { return a; }\n",
         behind_the_end(1, "test.comp:11", missing)},
        {MEAN + "void main() {}"s,
         behind_the_end(2, "test.comp:10", "'main' : function already has a body")},
        {MEAN + "\n/* the mean\n of two\n"s,
         "reduction:3: error: 'comment' : End of input in comment"},
        {MEAN + "\n#endif"s, "reduction:3: error: '#endif' : mismatched statements"},
        {"#else\n"s + MEAN, "reduction:1: error: '#else' : mismatched statements"},
        {"#version 460\n"s + MEAN, "reduction:1: error: '#version' : must occur first in shader"},
        {"\n#include \"mean.glsl\"\n"s + MEAN,
         "reduction:2: error: '#include' : quadtile has no such header for header name: "
         "mean.glsl"},
        {MEAN + "#include \"user_reduction.glsl\""s,
         "reduction:2: error: '#include' : a text cannot include itself; for header name: "
         "user_reduction.glsl"},
        {MEAN + "//\n// \0\n"s, "reduction:3: error: the line has a NUL byte"},
        {"\n#error no\n"s + MEAN, "reduction:2: error: '#error' : no"},
        {"float reduce(float a, float b) { return reduce(b, a); }",
         stage + "Recursion detected: reduce(f1;f1; calling reduce(f1;f1;"},
        {"float reduce(float a, float b);",
         stage + "No function definition (body) found: reduce(f1;f1;"}};
    for (const auto& [text, expected] : rows) {
        EXPECT_EQ(complaint(text), expected) << text;
    }
    EXPECT_THAT(complaint("\n#if 1\n"s + MEAN), HasSubstr("missing #endif"));
    EXPECT_THAT(complaint("\n#include </etc/passwd>\n"s + MEAN), StartsWith("reduction:2: error:"));
    EXPECT_THAT(complaint(MEAN + "\nconst float ONE = 1.0"s),
                StartsWith("reduction:3: error: only where test.comp:10 uses this text: "));
    // Callers read UTF-8, but the compiler tells single bytes of a letter.
    const std::string letter = complaint("\n\xC3\xA4\n"s + MEAN);
    EXPECT_THAT(letter, AllOf(StartsWith("reduction:2: error:"), HasSubstr("\uFFFD")));
    EXPECT_EQ(letter.find_first_of("\xC3\xA4"), std::string::npos);
    for (const std::string name : {"my \"reduction\"", "C:\\reduce.glsl", "quadtile/limits.h"}) {
        const UserSource source{"user_reduction.glsl", name, "\nfloat x = c;"};
        EXPECT_THAT(
            [&] {
                (void)compile_glsl("test.comp", KERNEL, {{"BEFORE", "1"}}, source,
                                   CodeForm::optimised);
            },
            test::is_refused("the GLSL of " + name + " does not compile:\n" + name + ":2" +
                             undeclared));
    }
}

// ---- What would bring down the compiler, the driver or the kernel -------------------------------

std::string threshold_refusal(const std::string& text) {
    return refusal([&] { return code_of(detail::UserKernel::threshold(false), text); });
}
std::string reduction_refusal(const std::string& text) {
    return refusal([&] { return code_of(detail::UserKernel::reduction(4, false, false), text); });
}

constexpr const char* ONE =
    "float threshold(uint level, uvec2 position, uint layer) { return 1.0; }\n";
constexpr const char* FIRST = "vec4 reduce(vec4 a, vec4 b, vec4 c, vec4 d) { return a; }\n";

TEST(UserCode, HasNoResources) {
    const auto expect = [](int set, int binding, const std::string& why) {
        const std::string place =
            "layout(set = " + std::to_string(set) + ", binding = " + std::to_string(binding) + ") ";
        const std::string expected = ": error: the text has a resource at binding " +
                                     std::to_string(binding) + " of descriptor set " +
                                     std::to_string(set) + why;
        const std::string function = "float threshold(uint level, uvec2 position, uint layer) { ";
        EXPECT_THAT(threshold_refusal(place + "buffer Mine { float mine[]; };\n" + function +
                                      "return mine[level]; }\n"),
                    StartsWith("threshold" + expected));
        EXPECT_THAT(threshold_refusal(place + "uniform sampler2D mine[3];\n" + function +
                                      "return textureLod(mine[1], vec2(0.5), 0.0).x; }\n"),
                    StartsWith("threshold" + expected));
        EXPECT_THAT(reduction_refusal(place + "buffer Mine { float mine[]; };\n"
                                              "vec4 reduce(vec4 a, vec4 b, vec4 c, vec4 d) { "
                                              "return a * mine[uint(b.x)]; }\n"),
                    StartsWith("reduction" + expected));
    };
    for (const int set : {1, 2, 3, 7}) {
        expect(set, 5, ", which is not bound; ");
    }
    for (int binding = 0; binding <= 16; ++binding) {
        expect(0, binding, ", where the kernel has its own; ");
    }
    EXPECT_THAT(threshold_refusal("layout(push_constant) uniform Mine { float mine; };\n"
                                  "float threshold(uint level, uvec2 position, uint layer) {\n"
                                  "    return mine;\n}\n"),
                HasSubstr("push_constant"));
}

TEST(UserCode, NeedsNoFeaturesThatAreOff) {
    const std::pair<const char*, const char*> rows[] = {
        {"float(double(level) / 3.0)", "64-bit floats, a feature that"},
        {"float(uint64_t(level) << layer)", "64-bit integers, "},
        {"float(int16_t(level) * int16_t(3))", "16-bit integers, "},
        {"float(uint8_t(level) * uint8_t(3))", "8-bit integers, "},
        {"float(float16_t(level) * float16_t(3))", "16-bit floats, "},
        {"float(subgroupAdd(level))", "subgroup operations, "},  // not in every variant
        {"Far(position).x", "the SPIR-V capability 5347, "}};
    for (const auto& [value, feature] : rows) {
        EXPECT_THAT(
            threshold_refusal("#extension GL_EXT_shader_explicit_arithmetic_types : require\n"
                              "#extension GL_ARB_gpu_shader_int64 : require\n"
                              "#extension GL_KHR_shader_subgroup_arithmetic : require\n"
                              "#extension GL_EXT_buffer_reference_uvec2 : require\n"
                              "layout(buffer_reference) buffer Far { float x; };\n"
                              "float threshold(uint level, uvec2 position, uint layer) { return "s +
                              value + "; }\n"),
            StartsWith("threshold: error: the text needs "s + feature));
    }
}

TEST(GlslCompiler, CompilesInSeveralThreads) {
    std::vector<std::future<Words>> results;
    for (int i = 0; i < 4; ++i) {
        results.push_back(std::async(std::launch::async, [] { return compile(MEAN); }));
    }
    for (std::future<Words>& result : results) {
        EXPECT_EQ(result.get(), compile(MEAN));
    }
}

#else

TEST(GlslCompiler, IsNotInThisBuild) {
    EXPECT_THAT([] { (void)compile_kernel("subtree", {}, user(""), CodeForm::optimised); },
                test::fails(ErrorCode::unsupported, "QUADTILE_RUNTIME_GLSL=OFF"));
}

#endif

}  // namespace
}  // namespace quadtile

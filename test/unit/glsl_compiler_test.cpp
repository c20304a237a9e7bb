#include <quadtile/error.hpp>

#include <src/glsl_compiler.hpp>

#include <gmock/gmock.h>

#include <cstdint>
#include <future>
#include <string>
#include <vector>

namespace quadtile {
namespace {

using detail::compile_glsl;
using detail::compile_kernel;
using detail::UserSource;
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

Words compile(const std::string& text) {
    return compile_glsl("test.comp", KERNEL, {{"BEFORE", "1"}}, user(text));
}

#if QUADTILE_RUNTIME_GLSL

// What the compiler has to say against a text.
std::string complaint(const std::string& text) {
    try {
        (void)compile(text);
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
        const std::string first_line = "the GLSL of reduction does not compile:\n";
        EXPECT_THAT(error.what(), StartsWith(first_line));
        return error.what() + first_line.size();
    }
    return "nothing";
}

std::string behind_the_end(std::size_t line, const std::string& place, const std::string& what) {
    return "reduction:" + std::to_string(line) + ": error: behind the end of this text, in " +
           place + ": " + what +
           "\nIs a bracket left open in this text, or something missing that the kernel uses?";
}

// The first words of a module: magic number, version 1.5.
void expect_spirv(const Words& words) {
    ASSERT_GT(words.size(), 5U);
    EXPECT_EQ(words[0], 0x07230203U);
    EXPECT_EQ(words[1], 0x00010500U);
}

constexpr const char* MEAN = "float reduce(float a, float b) { return 0.5 * (a + b); }\n";

TEST(GlslCompiler, IsInThisBuild) {
    EXPECT_TRUE(detail::has_glsl_compiler());
}

TEST(GlslCompiler, CompilesAKernelOfTheLibraryInItsVariants) {
    const Words without = compile_kernel("subtree", {{"SUBGROUPS", "0"}}, user(""));
    const Words with = compile_kernel("subtree", {{"SUBGROUPS", "1"}}, user(""));
    expect_spirv(without);
    expect_spirv(with);
    EXPECT_NE(without, with);
}

TEST(GlslCompiler, RefusesAKernelThatIsNotThere) {
    EXPECT_THROW((void)compile_kernel("subtrees", {}, user("")), Error);
}

TEST(GlslCompiler, PutsTheTextIn) {
    expect_spirv(compile(MEAN));
    EXPECT_EQ(compile(MEAN), compile(MEAN));
    EXPECT_NE(compile(MEAN), compile("float reduce(float a, float b) { return a * b; }"));
    // What the kernel has before the text can be used in it.
    expect_spirv(compile("float reduce(float a, float b) { return scale(a); }"));
}

TEST(GlslCompiler, TakesATextHoweverItEnds) {
    const Words expected = compile(MEAN);
    EXPECT_EQ(compile("float reduce(float a, float b) { return 0.5 * (a + b); }"), expected);
    EXPECT_EQ(compile(MEAN + "// the mean"s), expected);
    EXPECT_EQ(compile("float reduce(float a, float b) { return 0.5 * (a + b); } \\"), expected);
    EXPECT_EQ(compile(MEAN + "// the mean \\"s), expected);
    EXPECT_EQ(compile(MEAN + "// the mean \\\n"s), expected);
    EXPECT_EQ(compile("float reduce(float a,\r\n float b) { return 0.5 * (a + b); }\r\n"),
              expected);
}

TEST(GlslCompiler, TakesHeadersOfTheLibraryAndExtensions) {
    expect_spirv(
        compile("#include \"quadtile/limits.h\"\n"
                "float reduce(float a, float b) { return a + b + float(MAX_TOP_LEVEL); }"));
    expect_spirv(
        compile("#extension GL_KHR_shader_subgroup_arithmetic : require\n"
                "float reduce(float a, float b) { return subgroupAdd(a + b); }"));
}

TEST(GlslCompiler, WarningsDoNotFail) {
    expect_spirv(compile("float reduce(float a__a, float b) { return a__a + b; }"));
    EXPECT_THAT(complaint("float reduce(float a__a, float b) { return c; }"),
                Not(HasSubstr("warning")));
}

TEST(GlslCompiler, NumbersErrorsByTheLinesOfTheText) {
    const std::string undeclared = ": error: 'c' : undeclared identifier";
    EXPECT_EQ(complaint("float reduce(float a, float b) { return c; }"),
              "reduction:1" + undeclared);
    EXPECT_EQ(complaint("\n\nfloat reduce(float a, float b) {\n    return c;\n}\n"),
              "reduction:4" + undeclared);
    EXPECT_EQ(complaint("\r\n\r\nfloat reduce(float a, float b) {\r\n    return c;\r\n}\r\n"),
              "reduction:4" + undeclared);
    EXPECT_EQ(complaint("float reduce(float a, \\\n float b) {\n    return c;\n}\n"),
              "reduction:3" + undeclared);
    // Lines of an included header do not count.
    EXPECT_EQ(complaint("#include \"quadtile/limits.h\"\n"
                        "float reduce(float a, float b) { return c; }"),
              "reduction:2" + undeclared);
    EXPECT_EQ(complaint("float reduce(float a, float b)\n{ return a }\n"),
              "reduction:2: error: '' :  syntax error, unexpected RIGHT_BRACE, expecting COMMA or "
              "SEMICOLON");
}

TEST(GlslCompiler, NamesTheTextAsTheCallerDoes) {
    for (const std::string name : {"my \"reduction\"", "C:\\reduce.glsl", "quadtile/limits.h"}) {
        try {
            (void)compile_glsl("test.comp", KERNEL, {{"BEFORE", "1"}},
                               {"user_reduction.glsl", name, "\nfloat x = c;"});
            FAIL();
        } catch (const Error& error) {
            EXPECT_THAT(error.what(),
                        HasSubstr('\n' + name + ":2: error: 'c' : undeclared identifier"));
        }
    }
}

TEST(GlslCompiler, TellsTheFirstErrors) {
    std::string text = "float reduce(float a, float b) {\n";
    for (int i = 0; i < 8; ++i) {
        text += "    a += c" + std::to_string(i) + ";\n";
    }
    EXPECT_EQ(complaint(text + "    return a;\n}\n"),
              "reduction:2: error: 'c0' : undeclared identifier\n"
              "reduction:3: error: 'c1' : undeclared identifier\n"
              "reduction:4: error: 'c2' : undeclared identifier\n"
              "reduction:5: error: 'c3' : undeclared identifier\n"
              "reduction:6: error: 'c4' : undeclared identifier\n"
              "and 3 more");
}

TEST(GlslCompiler, ErrorsBehindTheTextAreToldAsSuch) {
    // An open brace.
    EXPECT_EQ(complaint("float reduce(float a, float b) {\n    return a;\n\n"),
              behind_the_end(2, "test.comp:10",
                             "'' :  syntax error, unexpected LEFT_BRACE, expecting SEMICOLON"));
    // No semicolon.
    EXPECT_THAT(complaint(MEAN + "\nconst float ONE = 1.0"s),
                StartsWith("reduction:3: error: behind the end of this text, in test.comp:10: "));
    // Nothing of what the kernel needs.
    const std::string missing = "'reduce' : no matching overloaded function found";
    EXPECT_EQ(complaint(""), behind_the_end(1, "test.comp:11", missing));
    EXPECT_EQ(complaint("\n\n"), behind_the_end(1, "test.comp:11", missing));
    EXPECT_EQ(complaint("float mean(float a, float b) { return a; }\n"),
              behind_the_end(1, "test.comp:11", missing));
    // A name of the kernel's.
    EXPECT_EQ(complaint(MEAN + "void main() {}"s),
              behind_the_end(2, "test.comp:10", "'main' : function already has a body"));
}

TEST(GlslCompiler, AnOpenCommentIsToldWhereItBegins) {
    EXPECT_EQ(complaint(MEAN + "\n/* the mean\n of two\n"s),
              "reduction:3: error: 'comment' : End of input in comment");
}

TEST(GlslCompiler, ConditionsMustCloseWithinTheText) {
    EXPECT_EQ(complaint("\n#if 1\n"s + MEAN),
              "reduction:2: error: the #if of this line has no #endif");
    EXPECT_EQ(complaint("#if 1\n#endif\n  # ifdef X // the outer\n #ifndef Y\n#endif\n"s + MEAN),
              "reduction:3: error: the #if of this line has no #endif");
    EXPECT_EQ(complaint(MEAN + "\n#endif"s), "reduction:3: error: #endif without an #if");
    EXPECT_EQ(complaint("#else\n"s + MEAN), "reduction:1: error: #else without an #if");
    expect_spirv(compile("#if X // #if\n/* #endif\n#endif */ nonsense\n#elif 0\n#else\n"s + MEAN +
                         "  #endif\n// \\\n#endif"));
}

TEST(GlslCompiler, DirectivesThatAreTheKernelsAreRefused) {
    EXPECT_EQ(complaint("#version 460\n"s + MEAN),
              "reduction:1: error: '#version' : must occur first in shader");
    EXPECT_EQ(complaint("\n #line 100\nfloat x = c;\n"),
              "reduction:2: error: #line is not supported here");
}

TEST(GlslCompiler, IncludesOfUnknownNamesAreRefused) {
    EXPECT_EQ(complaint("\n#include \"mean.glsl\"\n"s + MEAN),
              "reduction:2: error: '#include' : quadtile has no such text for header name: "
              "mean.glsl");
    EXPECT_THAT(complaint("\n#include </etc/passwd>\n"s + MEAN), StartsWith("reduction:2: error:"));
    EXPECT_EQ(complaint(MEAN + "#include \"user_reduction.glsl\""s),
              "reduction:2: error: '#include' : a text cannot include itself; for header name: "
              "user_reduction.glsl");
}

TEST(GlslCompiler, UnreadableTextsAreRefused) {
    EXPECT_EQ(complaint(MEAN + "//\n// \0\n"s), "reduction:3: error: the line has a NUL byte");
    EXPECT_THAT(complaint("\n\xC3\xA4\n"s + MEAN), StartsWith("reduction:2: error:"));
    EXPECT_EQ(complaint("\n#error no\n"s + MEAN), "reduction:2: error: '#error' : no");
}

TEST(GlslCompiler, ErrorsWithoutALineAreTold) {
    const std::string stage = "reduction: error: Linking compute stage: ";
    EXPECT_EQ(complaint("float reduce(float a, float b) { return reduce(b, a); }"),
              stage + "Recursion detected: reduce(f1;f1; calling reduce(f1;f1;");
    EXPECT_EQ(complaint("float reduce(float a, float b);"),
              stage + "No function definition (body) found: reduce(f1;f1;");
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
    EXPECT_FALSE(detail::has_glsl_compiler());
    for (const auto& call : {+[] { (void)compile("float reduce(float a, float b) { return a; }"); },
                             +[] { (void)compile_kernel("subtree", {}, user("")); }}) {
        try {
            call();
            FAIL();
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::unsupported);
            EXPECT_THAT(error.what(), HasSubstr("QUADTILE_RUNTIME_GLSL=OFF"));
        }
    }
}

#endif

}  // namespace
}  // namespace quadtile

// Preloaded library: the process writes and reads 1234.5 as "1.234,5" from its first line on, as
// one whose user is German after std::setlocale and std::locale::global. Tests in it fail where a
// number is read up to its point, or written with a comma.

#include <clocale>
#include <cstdlib>
#include <iostream>
#include <locale>
#include <string>

namespace {

// Those of C++, for which no locale must be installed.
class GermanNumbers : public std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
};

[[maybe_unused]] const bool is_german = [] {
    if (std::getenv("LOCPATH") != nullptr && std::setlocale(LC_ALL, "") == nullptr) {
        std::cerr << "the locale of this test is missing\n";
        std::abort();
    }
    std::locale::global(std::locale(std::locale(), new GermanNumbers));
    return true;
}();

}  // namespace

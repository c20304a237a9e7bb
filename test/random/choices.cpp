#include "choices.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>

namespace quadtile::test {

namespace {

// FNV-1a.
std::uint64_t hash(const std::string& name) {
    std::uint64_t value = 0xcbf29ce484222325U;
    for (const char character : name) {
        value = (value ^ static_cast<unsigned char>(character)) * 0x100000001b3U;
    }
    return value;
}

std::uint32_t parse(const std::string& name, const std::string& text) {
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) {
        throw std::invalid_argument("the choice " + name + " is a whole number, not '" + text +
                                    "'");
    }
    return value;
}

}  // namespace

std::uint64_t Random::word() {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebU;
    return mixed ^ (mixed >> 31U);
}

Choices::Given given_of(const std::vector<Choices::Choice>& made,
                        const std::vector<std::string>& names) {
    Choices::Given given;
    for (const Choices::Choice& choice : made) {
        if (names.empty() || std::ranges::find(names, choice.name) != names.end()) {
            given[choice.name] = choice.text();
        }
    }
    return given;
}

std::string Choices::Choice::text() const {
    return labels.empty() ? std::to_string(value) : labels[value];
}

Choices::Choices(std::uint64_t seed, Given given)
    : seed_(seed), given_(std::move(given)), text_("--seed " + std::to_string(seed)) {}

std::uint32_t Choices::add(Choice choice) {
    text_ += " " + choice.name + "=" + choice.text();
    made_.push_back(std::move(choice));
    return made_.back().value;
}

Random Choices::random(const std::string& name) const {
    return Random(seed_ ^ hash(name));
}

const std::string* Choices::given(const std::string& name) const {
    for (const Given* values : {&given_, &preferred_}) {
        if (const auto found = values->find(name); found != values->end()) {
            return &found->second;
        }
    }
    return nullptr;
}

std::uint32_t Choices::number(const std::string& name, std::uint32_t lowest, std::uint32_t highest,
                              const std::function<std::uint32_t(Random&)>& draw) {
    const std::string* const text = given(name);
    Random random = this->random(name);
    const std::uint32_t wanted = text == nullptr ? draw(random) : parse(name, *text);
    return add({name, std::clamp(wanted, lowest, highest), lowest, {}});
}

std::uint32_t Choices::number(const std::string& name, std::uint32_t lowest,
                              std::uint32_t highest) {
    return number(name, lowest, highest,
                  [&](Random& random) { return lowest + random.below(highest - lowest + 1); });
}

std::uint32_t Choices::one_of(const std::string& name, const std::vector<std::string>& labels) {
    std::uint32_t value = random(name).below(static_cast<std::uint32_t>(labels.size()));
    if (const std::string* const text = given(name); text != nullptr) {
        const auto found = std::ranges::find(labels, *text);
        if (found == labels.end() && given_.contains(name)) {
            throw std::invalid_argument("the choice " + name + " has no value '" + *text + "'");
        }
        if (found != labels.end()) {
            value = static_cast<std::uint32_t>(found - labels.begin());
        }
    }
    return add({name, value, 0, labels});
}

bool Choices::one_in(const std::string& name, std::uint32_t n) {
    return number(name, 0, 1, [&](Random& random) { return random.one_in(n) ? 1U : 0U; }) != 0;
}

}  // namespace quadtile::test

// Random differential test of quadtile against its CPU twins.
//
//     quadtile_random [SUBJECT...] [--seconds N | --cases N] [--seed S] [--threads N]
//                     [--max-texels N] [--short] [--quick]
//     quadtile_random SUBJECT --seed S [NAME=VALUE...]
//
// The first form runs cases until the time is over (default: 60 seconds) or the number of cases of
// each subject is reached. It stops at the first case that fails, shrinks it, and prints it in the
// second form, which runs this one case. SIGINT and SIGTERM end it after the present case, with
// what was counted. Exit status: 0, 1 (a case failed), 2 (usage).
//
// --threads N (default: 1) runs cases on so many threads, which share the device and its queue. Use
// it on GPUs: several processes would take turns there. Thread i, from 0 on, takes the cases of
// --seed S+i. The first case that fails is shrunk, and the last cases of all threads are printed.
//
// --quick runs a fixed number of cases of each subject, small ones that share pipelines, and so
// takes about as long in each run: it is what the quick tests do.
//
// QUADTILE_DEVICE chooses the device, QUADTILE_VALIDATION=0 turns validation off.

#include "choices.hpp"
#include "support/variants.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <thread>

#ifndef _WIN32
#include <unistd.h>
#endif

namespace quadtile::test {

namespace {

using Clock = std::chrono::steady_clock;

// ---- Crashes and hangs ------------------------------------------------------------------------

// The case that each thread runs.
struct Running {
    const Subject* subject = nullptr;
    const Choices* choices = nullptr;  // null: none
};
std::array<Running, 256> running;
thread_local std::size_t thread_number = 0;

std::string line_of(const Subject& subject, const Choices& choices) {
    return "    quadtile_random " + subject.name + " " + choices.text() + "\n";
}

extern "C" void on_signal(int signal) {
    ::signal(signal, SIG_DFL);
    std::string text = "quadtile_random: killed by a signal, or hung, while it ran\n";
    for (const Running& one : running) {
        text += one.choices != nullptr ? line_of(*one.subject, *one.choices) : "";
    }
    std::fputs(text.c_str(), stderr);
    ::raise(signal);
}

// The user wants no more cases.
std::atomic<bool> is_interrupted = false;

extern "C" void on_interrupt(int /*signal*/) {
    is_interrupted = true;
}

// ---- One case ---------------------------------------------------------------------------------

// Returns the fault of a case, or nothing.
std::string run_case(const Subject& subject, Choices& choices) {
    [[maybe_unused]] constexpr unsigned HANG_SECONDS = 600;
    running[thread_number] = {&subject, &choices};
#ifndef _WIN32
    (void)::alarm(HANG_SECONDS);  // one for all threads, from the last case that begins
#endif
    std::string wrong;
    try {
        wrong = subject.check(choices);
    } catch (const std::exception& error) {
        wrong = std::string("an exception: ") + error.what();
    }
    running[thread_number] = {};
    for (const std::string& message : take_validation_messages()) {
        wrong += (wrong.empty() ? "" : "; ") + ("validation: " + message);
    }
    return wrong;
}

struct Failure {
    Choices choices;
    std::string wrong;
};

// The simplest case that still fails, found within half a minute: each choice in turn goes down as
// far as it can.
Failure shrunk(const Subject& subject, Failure failure) {
    const Clock::time_point end = Clock::now() + std::chrono::seconds(30);
    // Tries one choice less by a step; keeps that where it fails, too.
    const auto step_down = [&](std::size_t i, std::uint32_t step) {
        std::vector<Choices::Choice> changed = failure.choices.made();
        changed[i].value -= step;
        Choices tried(failure.choices.seed(), given_of(changed));
        std::string wrong = run_case(subject, tried);
        if (wrong.empty()) {
            return false;
        }
        failure = {std::move(tried), std::move(wrong)};
        return true;
    };
    bool has_shrunk = true;
    while (has_shrunk) {
        has_shrunk = false;
        for (std::size_t i = 0; i < failure.choices.made().size(); ++i) {
            const Choices::Choice choice = failure.choices.made()[i];
            for (std::uint32_t step = choice.value - choice.lowest; step > 0; step /= 2) {
                if (Clock::now() > end) {
                    return failure;
                }
                if (failure.choices.made()[i].value >= choice.lowest + step && step_down(i, step)) {
                    has_shrunk = true;
                    if (i >= failure.choices.made().size()) {
                        break;  // other choices lead to other questions
                    }
                }
            }
        }
    }
    return failure;
}

// `wrong`: empty for a case that ran beside the one that failed.
void report(const Subject& subject, const Choices& choices, const std::string& wrong) {
    std::printf("%s\n%s", wrong.empty() ? "Beside it:" : ("FAILED: " + wrong).c_str(),
                line_of(subject, choices).c_str());
    std::fflush(stdout);
}

// ---- The command line -------------------------------------------------------------------------

struct Options {
    std::vector<std::string> subjects;
    std::map<std::string, std::optional<std::uint64_t>> numbers{
        {"--seconds", {}}, {"--cases", {}}, {"--seed", {}}, {"--threads", 1}, {"--max-texels", {}}};
    std::map<std::string, bool> flags{{"--short", false}, {"--quick", false}};
    Choices::Given given;

    [[nodiscard]] std::optional<std::uint64_t> number(const std::string& name) const {
        return numbers.at(name);
    }
    [[nodiscard]] bool is_quick() const { return flags.at("--quick"); }
    [[nodiscard]] RandomSettings settings() const {
        RandomSettings made;
        if (is_quick()) {
            made = {.max_texels = 1U << 16U, .is_short = true, .stretch = 10};
        }
        made.max_texels = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(
            number("--max-texels").value_or(made.max_texels), 1, 1 << 30));
        made.is_short = made.is_short || flags.at("--short");
        return made;
    }
};

Options parse(std::span<char* const> words) {
    Options options;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string word = words[i];
        if (const auto found = options.numbers.find(word); found != options.numbers.end()) {
            const std::string text = ++i < words.size() ? words[i] : "";
            std::uint64_t value = 0;
            const char* const end = text.data() + text.size();
            if (text.empty() || std::from_chars(text.data(), end, value).ptr != end) {
                throw std::invalid_argument(word + " needs a whole number");
            }
            found->second = value;
        } else if (options.flags.contains(word)) {
            options.flags[word] = true;
        } else if (const std::size_t equals = word.find('='); equals != std::string::npos) {
            options.given[word.substr(0, equals)] = word.substr(equals + 1);
        } else if (word.starts_with('-')) {
            throw std::invalid_argument("unknown option " + word);
        } else {
            options.subjects.push_back(word);
        }
    }
    return options;
}

std::vector<Subject> chosen_subjects(const Options& options) {
    const RandomSettings settings = options.settings();
    std::vector<Subject> all{reference_subject(),          tiles_subject(settings),
                             hand_overs_subject(settings), service_subject(settings),
                             mips_subject(settings),       shadows_subject(settings),
                             lies_subject(settings)};
#ifdef QUADTILE_RANDOM_BAKES
    all.push_back(bakes_subject(settings));
#endif
#ifdef QUADTILE_RANDOM_PROGRAMS
    all.push_back(programs_subject());
#endif
    std::vector<Subject> chosen;
    for (const std::string& name : options.subjects) {
        const auto found = std::ranges::find(all, name, &Subject::name);
        if (found == all.end()) {
            std::string names;
            for (const Subject& subject : all) {
                names += " " + subject.name;
            }
            throw std::invalid_argument("there is no subject '" + name + "'; there are:" + names);
        }
        chosen.push_back(*found);
    }
    return chosen.empty() ? all : chosen;
}

// ---- Many cases -------------------------------------------------------------------------------

// Runs cases of subject `number` of each thread's own. True where none fails.
bool run_cases(const std::vector<std::vector<Subject>>& subjects, std::size_t number,
               std::uint64_t seed, std::uint64_t cases, Clock::duration duration) {
    const Clock::time_point begin = Clock::now();
    std::atomic<std::uint64_t> started = 0;
    std::atomic<std::uint64_t> done = 0;
    std::atomic<bool> has_failed = false;
    struct Thread {
        std::optional<Choices> choices;  // of its last case
        std::string wrong;
    };
    std::vector<Thread> threads(subjects.size());
    const auto work = [&](std::size_t i) {
        Thread& thread = threads[i];
        thread_number = i;
        Random seeds(seed + i);
        while (!has_failed && !is_interrupted && Clock::now() - begin < duration &&
               started++ < cases) {
            thread.choices.emplace(seeds.word());
            thread.wrong = run_case(subjects[i][number], *thread.choices);
            ++done;
            if (!thread.wrong.empty()) {
                has_failed = true;
            }
        }
    };
    {
        std::vector<std::jthread> others;
        for (std::size_t i = 1; i < subjects.size(); ++i) {
            others.emplace_back(work, i);
        }
        work(0);
    }
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    const char* const name = subjects[0][number].name.c_str();
    const auto failed = std::ranges::find_if(threads, [](auto& it) { return !it.wrong.empty(); });
    if (failed == threads.end()) {
        std::printf("%s: %llu cases in %.0f s without a difference, --seed %llu --threads %zu\n",
                    name, static_cast<unsigned long long>(done), seconds,
                    static_cast<unsigned long long>(seed), threads.size());
        std::fflush(stdout);
        return true;
    }
    const Subject& subject = subjects[static_cast<std::size_t>(failed - threads.begin())][number];
    std::printf("case %llu of %s fails; shrinking it\n", static_cast<unsigned long long>(done),
                name);
    for (const Thread& thread : threads) {
        if (thread.choices) {
            report(subject, *thread.choices, thread.wrong);
        }
    }
    const Failure simplest = shrunk(subject, {*failed->choices, failed->wrong});
    report(subject, simplest.choices, simplest.wrong);
    return false;
}

int run(const Options& options) {
    for (const int signal : {SIGSEGV, SIGFPE, SIGILL, SIGABRT}) {
        std::signal(signal, on_signal);
    }
#ifndef _WIN32
    std::signal(SIGBUS, on_signal);
    std::signal(SIGALRM, on_signal);
#endif
    for (const int signal : {SIGINT, SIGTERM}) {
        std::signal(signal, on_interrupt);
    }
    const std::vector<Subject> subjects = chosen_subjects(options);
    const bool is_quick = options.is_quick();
    const auto cases = options.number("--cases");
    const auto seconds = options.number("--seconds");
    const auto given_seed = options.number("--seed");
    if (!options.given.empty() || (given_seed && !cases && !seconds && !is_quick)) {
        if (subjects.size() != 1 || !given_seed) {
            throw std::invalid_argument("a single case needs one subject and its --seed");
        }
        Choices choices(*given_seed, options.given);
        const std::string wrong = run_case(subjects.front(), choices);
        if (!wrong.empty()) {
            report(subjects.front(), choices, wrong);
            return 1;
        }
        std::printf("right:\n%s", line_of(subjects.front(), choices).c_str());
        return 0;
    }
    // Another seed in each run finds more than the same one.
    const std::uint64_t seed = given_seed.value_or(static_cast<std::uint64_t>(std::time(nullptr)));
    double shares = 0.0;
    for (const Subject& subject : subjects) {
        shares += subject.share;
    }
    bool all_right = true;
    std::vector<std::vector<Subject>> of_threads{subjects};
    while (of_threads.size() < std::min(*options.number("--threads"), running.size())) {
        of_threads.push_back(chosen_subjects(options));
    }
    for (std::size_t i = 0; i < subjects.size(); ++i) {
        const std::chrono::duration<double> duration(
            (cases || is_quick) && !seconds
                ? 1e9
                : static_cast<double>(seconds.value_or(60)) * subjects[i].share / shares);
        const std::uint64_t most = is_quick ? subjects[i].quick_cases : ~0ULL;
        all_right = run_cases(of_threads, i, seed, cases.value_or(most),
                              std::chrono::duration_cast<Clock::duration>(duration)) &&
                    all_right;
    }
    return all_right ? 0 : 1;
}

}  // namespace

}  // namespace quadtile::test

int main(int count, char** words) {
    int status = 2;
    try {
        status = quadtile::test::run(
            quadtile::test::parse({words + 1, static_cast<std::size_t>(count - 1)}));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "quadtile_random: error: %s\n", error.what());
    }
    quadtile::test::release_devices();
    return status;
}

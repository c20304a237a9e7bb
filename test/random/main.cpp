// Random differential test of quadtile against its CPU twins.
//
//     quadtile_random [SUBJECT...] [--seconds N | --cases N] [--seed S] [--threads N]
//                     [--stretch N] [--max-texels N] [--short] [--quick]
//     quadtile_random SUBJECT --seed S [NAME=VALUE...]
//
// The first form runs cases until the time is over (default: 60 seconds) or the number of cases of
// each subject is reached. It stops at the first case that fails, shrinks it, and prints it in the
// second form, which runs this one case. SIGINT and SIGTERM end it after the present case, with
// what was counted. Exit status: 0, 1 (a case failed), 2 (usage).
//
// --threads N (default: 1) runs cases on so many threads, which share the device and its queue. Use
// it on GPUs: several processes would take turns there. Thread i, from 0 on, takes the cases of
// --seed S+i. The first case that fails is shrunk; where it is right when it runs alone, the last
// cases of all threads are printed instead.
//
// --stretch N (default: 1) lets N cases of `tiles` in a row run the same pipelines, on the same
// format. Use it to run many cases on CPU drivers, which otherwise compile nearly all of the time.
//
// --quick runs a fixed number of cases of each subject, small ones that share pipelines, and so
// takes about as long in each run: it is what the quick tests do.
//
// QUADTILE_DEVICE chooses the device, QUADTILE_VALIDATION=0 turns validation off.

#include "subjects.hpp"
#include "support/variants.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <optional>
#include <stdexcept>
#include <thread>

#include <unistd.h>

namespace quadtile::test {

namespace {

using Clock = std::chrono::steady_clock;

// ---- Crashes and hangs ------------------------------------------------------------------------

thread_local const Subject* running_subject = nullptr;
thread_local const Choices* running_choices = nullptr;

void write_error(const std::string& text) {
    (void)!::write(STDERR_FILENO, text.data(), text.size());
}

extern "C" void on_signal(int signal) {
    ::signal(signal, SIG_DFL);
    if (running_choices != nullptr) {
        write_error(
            "quadtile_random: killed by a signal, or hung, while it ran\n    quadtile_random ");
        write_error(running_subject->name);
        write_error(" ");
        write_error(running_choices->text());
        write_error("\n");
    }
    ::raise(signal);
}

// Sends its thread SIGALRM when a case takes too long.
class HangTimer {
 public:
    HangTimer() {
        sigevent event{};
        event.sigev_notify = SIGEV_THREAD_ID;
        event.sigev_signo = SIGALRM;
        event._sigev_un._tid = ::gettid();
        if (::timer_create(CLOCK_MONOTONIC, &event, &timer_) != 0) {
            throw std::runtime_error("timer_create failed");
        }
    }
    HangTimer(const HangTimer&) = delete;
    HangTimer& operator=(const HangTimer&) = delete;
    ~HangTimer() { ::timer_delete(timer_); }

    // 0 stops it.
    void start(std::time_t seconds) const {
        const itimerspec end{.it_interval = {}, .it_value = {seconds, 0}};
        ::timer_settime(timer_, 0, &end, nullptr);
    }

 private:
    timer_t timer_ = nullptr;
};

// The user wants no more cases.
std::atomic<bool> is_interrupted = false;

extern "C" void on_interrupt(int /*signal*/) {
    is_interrupted = true;
}

// ---- One case ---------------------------------------------------------------------------------

// Returns the fault of a case, or nothing.
std::string run_case(const Subject& subject, Choices& choices) {
    constexpr std::time_t HANG_SECONDS = 600;
    thread_local HangTimer timer;
    running_subject = &subject;
    running_choices = &choices;
    timer.start(HANG_SECONDS);
    std::string wrong;
    try {
        wrong = subject.check(choices);
    } catch (const std::exception& error) {
        wrong = std::string("an exception: ") + error.what();
    }
    timer.start(0);
    running_choices = nullptr;
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

void report(const Subject& subject, const Choices& choices, const std::string& wrong) {
    std::printf("FAILED: %s\n    quadtile_random %s %s\n", wrong.c_str(), subject.name.c_str(),
                choices.text().c_str());
    std::fflush(stdout);
}

// ---- The command line -------------------------------------------------------------------------

struct Options {
    std::vector<std::string> subjects;
    std::optional<std::uint64_t> seconds;
    std::optional<std::uint64_t> cases;
    std::optional<std::uint64_t> seed;
    std::size_t threads = 1;
    bool is_quick = false;
    Choices::Given given;
    RandomSettings settings;
};

std::uint64_t whole_number(const std::string& option, const char* text) {
    std::uint64_t value = 0;
    const char* end = text == nullptr ? nullptr : text + std::strlen(text);
    if (text == nullptr || std::from_chars(text, end, value).ptr != end || text == end) {
        throw std::invalid_argument(option + " needs a whole number");
    }
    return value;
}

Options parse(int count, char** words) {
    Options options;
    for (int i = 1; i < count; ++i) {
        const std::string word = words[i];
        const auto number = [&] {
            return whole_number(word, i + 1 < count ? words[++i] : nullptr);
        };
        if (word == "--seconds") {
            options.seconds = number();
        } else if (word == "--cases") {
            options.cases = number();
        } else if (word == "--seed") {
            options.seed = number();
        } else if (word == "--threads") {
            options.threads = std::clamp<std::size_t>(number(), 1, 256);
        } else if (word == "--max-texels") {
            options.settings.max_texels =
                static_cast<std::uint32_t>(std::clamp<std::uint64_t>(number(), 1, 1U << 30U));
        } else if (word == "--stretch") {
            options.settings.stretch = std::max<std::uint64_t>(number(), 1);
        } else if (word == "--short") {
            options.settings.is_short = true;
        } else if (word == "--quick") {
            options.is_quick = true;
            options.settings = {.max_texels = 1U << 16U, .is_short = true, .stretch = 10};
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
    std::vector<Subject> all{reference_subject(),
                             tiles_subject(options.settings),
                             hand_overs_subject(options.settings),
                             service_subject(options.settings),
                             mips_subject(options.settings),
                             shadows_subject(options.settings)};
#ifdef QUADTILE_RANDOM_BAKES
    all.push_back(bakes_subject(options.settings));
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
    std::atomic<bool> has_failed = false;
    struct Thread {
        std::uint64_t done = 0;
        std::optional<Choices> choices;  // of its last case
        std::string wrong;
    };
    std::vector<Thread> threads(subjects.size());
    const auto work = [&](std::size_t i) {
        Thread& thread = threads[i];
        Random seeds(seed + i);
        while (!has_failed && !is_interrupted && Clock::now() - begin < duration &&
               started++ < cases) {
            thread.choices.emplace(seeds.word());
            thread.wrong = run_case(subjects[i][number], *thread.choices);
            ++thread.done;
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
    std::uint64_t done = 0;
    for (const Thread& thread : threads) {
        done += thread.done;
    }
    const char* const name = subjects[0][number].name.c_str();
    const auto* const lists = subjects[0][number].lists;
    const auto failed = std::ranges::find_if(threads, [](auto& it) { return !it.wrong.empty(); });
    if (failed == threads.end()) {
        std::printf("%s: %llu cases", name, static_cast<unsigned long long>(done));
        if (lists != nullptr) {
            std::printf(" (%llu lists)", static_cast<unsigned long long>(*lists));
        }
        std::printf(" in %.0f s without a difference, --seed %llu --threads %zu\n", seconds,
                    static_cast<unsigned long long>(seed), threads.size());
        std::fflush(stdout);
        return true;
    }
    const Subject& subject = subjects[static_cast<std::size_t>(failed - threads.begin())][number];
    std::printf("case %llu of %s fails; shrinking it\n", static_cast<unsigned long long>(done),
                name);
    for (const Thread& thread : threads) {
        if (!thread.wrong.empty()) {
            report(subject, *thread.choices, thread.wrong);
        }
    }
    Choices alone(failed->choices->seed(), given_of(failed->choices->made()));
    if (threads.size() > 1 && run_case(subject, alone).empty()) {
        std::printf("Alone it is right. The threads' last cases:\n");
        for (const Thread& thread : threads) {
            std::printf("    quadtile_random %s %s\n", name,
                        thread.choices ? thread.choices->text().c_str() : "");
        }
        return false;
    }
    const Failure simplest = shrunk(subject, {*failed->choices, failed->wrong});
    report(subject, simplest.choices, simplest.wrong);
    return false;
}

int run(const Options& options) {
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM}) {
        std::signal(signal, on_signal);
    }
    for (const int signal : {SIGINT, SIGTERM}) {
        std::signal(signal, on_interrupt);
    }
    const std::vector<Subject> subjects = chosen_subjects(options);
    if (!options.given.empty() ||
        (options.seed && !options.cases && !options.seconds && !options.is_quick)) {
        if (subjects.size() != 1 || !options.seed) {
            throw std::invalid_argument("a single case needs one subject and its --seed");
        }
        Choices choices(*options.seed, options.given);
        const std::string wrong = run_case(subjects.front(), choices);
        if (!wrong.empty()) {
            report(subjects.front(), choices, wrong);
            return 1;
        }
        std::printf("right: quadtile_random %s %s\n", subjects.front().name.c_str(),
                    choices.text().c_str());
        return 0;
    }
    // Another seed in each run finds more than the same one.
    const std::uint64_t seed =
        options.seed.value_or(static_cast<std::uint64_t>(std::time(nullptr)));
    double shares = 0.0;
    for (const Subject& subject : subjects) {
        shares += subject.share;
    }
    bool all_right = true;
    std::vector<std::vector<Subject>> of_threads{subjects};
    while (of_threads.size() < options.threads) {
        of_threads.push_back(chosen_subjects(options));
    }
    for (std::size_t i = 0; i < subjects.size(); ++i) {
        const double seconds =
            (options.cases || options.is_quick) && !options.seconds
                ? 1e9
                : static_cast<double>(options.seconds.value_or(60)) * subjects[i].share / shares;
        all_right =
            run_cases(of_threads, i, seed,
                      options.cases.value_or(options.is_quick ? subjects[i].quick_cases : ~0ULL),
                      std::chrono::duration_cast<Clock::duration>(
                          std::chrono::duration<double>(seconds))) &&
            all_right;
    }
    return all_right ? 0 : 1;
}

}  // namespace

}  // namespace quadtile::test

int main(int count, char** words) {
    int status = 2;
    try {
        status = quadtile::test::run(quadtile::test::parse(count, words));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "quadtile_random: error: %s\n", error.what());
    }
    quadtile::test::release_devices();
    return status;
}

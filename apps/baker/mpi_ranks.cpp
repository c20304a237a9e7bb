#include "parallel.hpp"
#include "ranks.hpp"

#include <mpi.h>
#include <sched.h>

#include <array>
#include <atomic>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

namespace quadtile::baker {

namespace {

using namespace std::chrono_literals;

// Bytes that ranks exchange at a time, because MPI, or the window of a host, needs memory for them.
constexpr std::size_t PIECE_BYTES = std::size_t{32} << 20U;

constexpr int REQUEST = 1;  // number of items; 0: stop
constexpr int REPLY = 2;

// Polls, because MPI's own waiting uses a whole processor, which CPU drivers need.
void wait_for(const std::function<bool()>& is_done, std::chrono::microseconds interval = 200us) {
    while (!is_done()) {
        std::this_thread::sleep_for(interval);
    }
}

// Ranks of an MPI job. MPI's errors end the job with a message, which is its default.
class MpiRanks : public Ranks {
 public:
    MpiRanks(int& argc, char**& argv) {
        int support = MPI_THREAD_SINGLE;
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &support);
        if (support < MPI_THREAD_MULTIPLE) {
            MPI_Finalize();
            throw std::runtime_error(
                "this MPI was built without MPI_THREAD_MULTIPLE; use one that has it, for example "
                "Open MPI 4.0 or later");
        }
        number_ = number_in(MPI_COMM_WORLD);
        int count = 1;
        MPI_Comm_size(MPI_COMM_WORLD, &count);
        count_ = static_cast<std::uint32_t>(count);
        MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host_);
        number_on_host_ = number_in(host_);
        share_processors();
        if (count_ > 1) {
            make_slots();
        }
        MPI_Comm_dup(MPI_COMM_WORLD, &requests_);
        if (is_first()) {
            server_.emplace([this] { serve(); });
        }
    }
    ~MpiRanks() override {
        // Ranks that have ended request nothing any more.
        (void)MpiRanks::greatest(0.0);
        ends_ = true;
        server_.reset();
        MPI_Comm_free(&requests_);
        if (window_ != MPI_WIN_NULL) {
            MPI_Win_free(&window_);
        }
        if (adders_ != MPI_COMM_NULL) {
            MPI_Comm_free(&adders_);
        }
        MPI_Comm_free(&host_);
        MPI_Finalize();
    }

    [[nodiscard]] std::string name() const override {
        std::array<char, MPI_MAX_PROCESSOR_NAME> host{};
        int length = 0;
        MPI_Get_processor_name(host.data(), &length);
        return "rank " + std::to_string(number_) + " of " + std::to_string(count_) + " on '" +
               host.data() + "'";
    }
    void abort() override { MPI_Abort(MPI_COMM_WORLD, 1); }

    [[nodiscard]] Range take(std::size_t most) override {
        return is_first() ? Ranks::take(most) : request(most);
    }
    void stop() override {
        if (is_first()) {
            Ranks::stop();
        } else {
            (void)request(0);
        }
    }

    void hand_out(const Range& items) override {
        Ranks::hand_out(items);
        (void)greatest(0.0);  // no rank takes items before
    }
    [[nodiscard]] double greatest(double value) override {
        double result = 0.0;
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Iallreduce(&value, &result, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD, &request);
        wait_for([&] {
            int is_done = 0;
            MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
            return is_done != 0;
        });
        return result;
    }
    // Each rank copies its piece into its slot of a window that the ranks of its host share. Then
    // each adds a slice of all slots into one of them, and the slices of other hosts to it.
    void add_up(std::span<std::uint64_t> words, std::uint32_t to) override {
        if (count_ == 1) {
            return;
        }
        const bool is_host = places_[to].host == places_[number_].host;
        std::uint64_t* const sum = slots_[is_host ? places_[to].number : 0];
        for_pieces(words, [&](std::uint64_t* piece, int size) {
            const auto copy = [&](std::uint64_t* target, const std::uint64_t* source) {
                for_parts({0, static_cast<std::size_t>(size)}, [&](const Range& part) {
                    std::copy_n(source + part.first, part.size(), target + part.first);
                });
            };
            copy(slots_[number_on_host_], piece);
            MPI_Win_fence(0, window_);
            add_slice(sum, static_cast<std::size_t>(size), places_[to]);
            MPI_Win_fence(0, window_);
            if (number_ == to) {
                copy(piece, sum);
            }
        });
    }
    void broadcast(std::span<std::byte> bytes) override {
        for_pieces(bytes, [](std::byte* piece, int size) {
            MPI_Bcast(piece, size, MPI_BYTE, 0, MPI_COMM_WORLD);
        });
    }

 protected:
    // Uses the caller's buffers: MPI needs no memory for them.
    void gather(std::span<std::byte> values, std::size_t value_bytes, std::size_t block,
                bool to_all) override {
        MPI_Datatype type = MPI_DATATYPE_NULL;
        MPI_Type_contiguous(static_cast<int>(value_bytes), MPI_BYTE, &type);
        MPI_Type_commit(&type);
        std::vector<int> firsts;
        std::vector<int> sizes;
        for (std::uint32_t rank = 0; rank < count_; ++rank) {
            const Range part = part_of(rank, values.size() / value_bytes, block);
            firsts.push_back(static_cast<int>(part.first));
            sizes.push_back(static_cast<int>(part.size()));
        }
        if (to_all) {
            MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, values.data(), sizes.data(),
                           firsts.data(), type, MPI_COMM_WORLD);
        } else {
            const std::byte* const own =
                values.data() + static_cast<std::size_t>(firsts[number_]) * value_bytes;
            MPI_Gatherv(is_first() ? MPI_IN_PLACE : own, sizes[number_], type, values.data(),
                        sizes.data(), firsts.data(), type, 0, MPI_COMM_WORLD);
        }
        MPI_Type_free(&type);
    }

 private:
    // Place of a rank: its host, named by the host's first rank, and its number there.
    struct Place {
        std::uint32_t host;
        std::uint32_t number;
    };

    static std::uint32_t number_in(MPI_Comm ranks) {
        int number = 0;
        MPI_Comm_rank(ranks, &number);
        return static_cast<std::uint32_t>(number);
    }

    // mpirun may have bound each rank to its own processors, or none.
    void share_processors() {
        cpu_set_t own;
        CPU_ZERO(&own);
        ::sched_getaffinity(0, sizeof(own), &own);
        cpu_set_t all = own;
        MPI_Allreduce(&own, &all, sizeof(own), MPI_BYTE, MPI_BOR, host_);
        int on_host = 1;
        MPI_Comm_size(host_, &on_host);
        fair_threads_ =
            static_cast<std::uint32_t>(std::clamp(CPU_COUNT(&all) / on_host, 1, CPU_COUNT(&own)));
    }

    template <typename T>
    static void for_pieces(std::span<T> values, const auto& work) {
        constexpr std::size_t PIECE = PIECE_BYTES / sizeof(T);
        for (std::size_t first = 0; first < values.size(); first += PIECE) {
            const std::span<T> piece =
                values.subspan(first, std::min(PIECE, values.size() - first));
            work(piece.data(), static_cast<int>(piece.size()));
        }
    }

    // Calls work(part) for parts of the items, from several threads.
    static void for_parts(const Range& items, const auto& work) {
        constexpr std::size_t PART = std::size_t{1} << 18U;
        parallel_for((items.size() + PART - 1) / PART, 0, [&](std::size_t i) {
            const std::size_t first = items.first + i * PART;
            work(Range{first, std::min(first + PART, items.end)});
        });
    }

    void make_slots() {
        // MPI's own message names neither the reason nor the remedy.
        MPI_Comm_set_errhandler(host_, MPI_ERRORS_RETURN);
        void* slot = nullptr;
        if (MPI_Win_allocate_shared(PIECE_BYTES, 1, MPI_INFO_NULL, host_, &slot, &window_) !=
            MPI_SUCCESS) {
            throw std::runtime_error(
                "the host has too little shared memory: each rank needs 32 MiB; make /dev/shm "
                "larger (Docker: --shm-size=1g)");
        }
        MPI_Comm_set_errhandler(host_, MPI_ERRORS_ARE_FATAL);
        int on_host = 0;
        MPI_Comm_size(host_, &on_host);
        for (int rank = 0; rank < on_host; ++rank) {
            MPI_Aint size = 0;
            int unit = 0;
            MPI_Win_shared_query(window_, rank, &size, &unit, static_cast<void*>(&slot));
            slots_.push_back(static_cast<std::uint64_t*>(slot));
        }
        // Named by the first rank, so hosts have the same order among the adders of each slice.
        Place own{number_, number_on_host_};
        MPI_Bcast(&own.host, 1, MPI_UINT32_T, 0, host_);
        places_.resize(count_);
        MPI_Allgather(&own, 2, MPI_UINT32_T, places_.data(), 2, MPI_UINT32_T, MPI_COMM_WORLD);
        // Each host has a rank for each slice.
        MPI_Allreduce(&on_host, &slices_, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
        const bool is_adder = static_cast<int>(number_on_host_) < slices_;
        MPI_Comm_split(MPI_COMM_WORLD, is_adder ? static_cast<int>(number_on_host_) : MPI_UNDEFINED,
                       static_cast<int>(own.host), &adders_);
    }
    // Adds all slots of the host to `sum`, which is one of them; and on the host of `to` those of
    // other hosts.
    void add_slice(std::uint64_t* sum, std::size_t size, const Place& to) const {
        if (adders_ == MPI_COMM_NULL) {
            return;
        }
        const auto start_of = [&](std::size_t slice) {
            return size * slice / static_cast<std::size_t>(slices_);
        };
        const Range slice{start_of(number_on_host_), start_of(number_on_host_ + 1)};
        for_parts(slice, [&](const Range& part) {
            for (const std::uint64_t* const slot : slots_) {
                for (std::size_t i = part.first; slot != sum && i < part.end; ++i) {
                    sum[i] += slot[i];
                }
            }
        });
        const auto root = std::ranges::count_if(
            places_, [&](const Place& place) { return place.number == 0 && place.host < to.host; });
        const bool is_here = to.host == places_[number_].host;
        std::uint64_t* const words = sum + slice.first;
        MPI_Reduce(is_here ? MPI_IN_PLACE : words, is_here ? words : nullptr,
                   static_cast<int>(slice.size()), MPI_UINT64_T, MPI_SUM, static_cast<int>(root),
                   adders_);
    }

    // The first rank answers while it traces. Windows of MPI would make others wait for its next
    // call on networks without remote access.
    void serve() {
        int is_there = 0;
        MPI_Message message = MPI_MESSAGE_NULL;
        MPI_Status status;
        while (true) {
            wait_for([&] {
                MPI_Improbe(MPI_ANY_SOURCE, REQUEST, requests_, &is_there, &message, &status);
                return is_there != 0 || ends_;
            });
            if (is_there == 0) {
                return;
            }
            std::uint64_t most = 0;
            MPI_Mrecv(&most, 1, MPI_UINT64_T, &message, MPI_STATUS_IGNORE);
            Range range;
            if (most == 0) {
                Ranks::stop();
            } else {
                range = Ranks::take(most);
            }
            const std::array<std::uint64_t, 2> reply{range.first, range.end};
            MPI_Send(reply.data(), 2, MPI_UINT64_T, status.MPI_SOURCE, REPLY, requests_);
        }
    }
    [[nodiscard]] Range request(std::uint64_t most) const {
        std::array<std::uint64_t, 2> reply{};
        MPI_Request received = MPI_REQUEST_NULL;
        MPI_Irecv(reply.data(), 2, MPI_UINT64_T, 0, REPLY, requests_, &received);
        MPI_Send(&most, 1, MPI_UINT64_T, 0, REQUEST, requests_);
        wait_for([&] {
            int is_done = 0;
            MPI_Test(&received, &is_done, MPI_STATUS_IGNORE);
            return is_done != 0;
        });
        return {reply[0], reply[1]};
    }

    MPI_Comm requests_ = MPI_COMM_NULL;
    MPI_Comm host_ = MPI_COMM_NULL;  // ranks of this host

    // Members for add_up, if there are several ranks.
    MPI_Win window_ = MPI_WIN_NULL;      // of the host
    std::vector<std::uint64_t*> slots_;  // of its ranks
    std::vector<Place> places_;          // of all ranks
    MPI_Comm adders_ = MPI_COMM_NULL;  // of this rank's slice, one per host; null: it has no slice
    int slices_ = 1;

    std::atomic<bool> ends_ = false;
    std::optional<std::jthread> server_;
};

}  // namespace

std::unique_ptr<Ranks> make_ranks(int& argc, char**& argv) {
    return std::make_unique<MpiRanks>(argc, argv);
}

}  // namespace quadtile::baker

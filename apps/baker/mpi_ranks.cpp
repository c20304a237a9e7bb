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

// Bytes that ranks exchange at a time, because MPI needs memory for them.
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

    void hand_out(const Range& items, std::size_t takers) override {
        Ranks::hand_out(items, takers);
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
    void add_up(std::span<std::uint64_t> words, std::uint32_t to) override {
        for_pieces(words, [&](std::uint64_t* piece, int size) {
            const bool receives = number_ == to;
            MPI_Reduce(receives ? MPI_IN_PLACE : piece, receives ? piece : nullptr, size,
                       MPI_UINT64_T, MPI_SUM, static_cast<int>(to), MPI_COMM_WORLD);
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

    std::atomic<bool> ends_ = false;
    std::optional<std::jthread> server_;
};

}  // namespace

std::unique_ptr<Ranks> make_ranks(int& argc, char**& argv) {
    return std::make_unique<MpiRanks>(argc, argv);
}

}  // namespace quadtile::baker

// Processes that bake a lightmap together: a single one, or the ranks of an MPI job.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>

namespace quadtile::baker {

// Consecutive items.
struct Range {
    std::size_t first = 0;
    std::size_t end = 0;

    [[nodiscard]] std::size_t size() const { return end - first; }
};

// Thrown by a rank that ends because another one has reported the reason.
struct EndedElsewhere {};

// Ranks; this class is a single process. All ranks call the functions of "Together" in one order.
class Ranks {
 public:
    Ranks() = default;
    Ranks(const Ranks&) = delete;
    Ranks& operator=(const Ranks&) = delete;
    virtual ~Ranks() = default;

    [[nodiscard]] std::uint32_t number() const noexcept { return number_; }  // from 0
    [[nodiscard]] std::uint32_t count() const noexcept { return count_; }
    [[nodiscard]] bool is_first() const noexcept { return number_ == 0; }
    // Returns the number among the ranks of the same host, from 0.
    [[nodiscard]] std::uint32_t number_on_host() const noexcept { return number_on_host_; }
    // Returns the share of the host's processors while all of its ranks work; 0: all.
    [[nodiscard]] std::uint32_t fair_threads() const noexcept { return fair_threads_; }
    // Returns "rank 2 of 4 on 'host'".
    [[nodiscard]] virtual std::string name() const { return "rank 0 of 1"; }
    // Ends all ranks at once, without their destructors.
    virtual void abort() {}

    // Returns the part of a rank of items in blocks that stay whole.
    [[nodiscard]] Range part_of(std::uint32_t rank, std::size_t items, std::size_t block) const {
        const std::size_t blocks = (items + block - 1) / block;
        const auto start_of = [&](std::size_t i) {
            return std::min(items, blocks * i / count_ * block);
        };
        return {start_of(rank), start_of(rank + std::size_t{1})};
    }
    [[nodiscard]] Range own_part(std::size_t items, std::size_t block) const {
        return part_of(number_, items, block);
    }

    // ---- Work that threads of ranks take when they are ready

    // Returns at most `most` of the items that are handed out; fewer towards the end, so that all
    // takers end at about the same time. Empty: none are left.
    [[nodiscard]] virtual Range take(std::size_t most);
    // Removes all remaining items for all ranks.
    virtual void stop();
    // Returns the first item that no rank has taken, as known to the first rank.
    [[nodiscard]] std::size_t handed_out() const;

    // ---- Together

    // Hands out items to so many threads of each rank; remaining earlier items are forgotten.
    virtual void hand_out(const Range& items, std::size_t takers);
    // Returns the greatest value. All ranks wait, without using their processors.
    [[nodiscard]] virtual double greatest(double value) { return value; }
    // Adds the words of all ranks, modulo 2^64, to those of the rank `to`. The others keep theirs.
    virtual void add_up(std::span<std::uint64_t> /*words*/, std::uint32_t /*to*/) {}
    // Copies from the first rank to all others.
    virtual void broadcast(std::span<std::byte> /*bytes*/) {}
    // Gives the parts of all ranks (part_of) to the first rank, or to all.
    template <typename T>
    void gather(std::span<T> values, std::size_t block, bool to_all) {
        gather(std::as_writable_bytes(values), sizeof(T), block, to_all);
    }
    // Runs `work`, which must not call any of these, on each rank. If it throws on some, the lowest
    // of these rethrows, and the others throw EndedElsewhere.
    void together(const std::function<void()>& work);
    // Returns whether `together` has thrown.
    [[nodiscard]] bool has_ended_together() const noexcept { return has_ended_together_; }

 protected:
    virtual void gather(std::span<std::byte> /*values*/, std::size_t /*value_bytes*/,
                        std::size_t /*block*/, bool /*to_all*/) {}

    std::uint32_t number_ = 0;
    std::uint32_t count_ = 1;
    std::uint32_t number_on_host_ = 0;
    std::uint32_t fair_threads_ = 0;

 private:
    mutable std::mutex mutex_;
    Range left_;
    std::size_t takers_ = 1;
    bool has_ended_together_ = false;
};

// Makes the ranks of this program, which is linked with one of two sources: one_rank.cpp,
// mpi_ranks.cpp. Throws std::runtime_error.
[[nodiscard]] std::unique_ptr<Ranks> make_ranks(int& argc, char**& argv);

}  // namespace quadtile::baker

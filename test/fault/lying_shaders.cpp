#include "lying_shaders.hpp"

#include <algorithm>
#include <map>
#include <span>

namespace quadtile::test {

namespace {

// Opcodes and operands of SPIR-V that lies are about.
enum Operation : std::uint32_t {
    OpTypeBool = 20,
    OpTypeInt = 21,
    OpConstant = 43,
    OpFunction = 54,
    OpDecorate = 71,
    OpSelect = 169,
    OpLogicalOr = 166,
    OpINotEqual = 171,
    OpBitwiseAnd = 199,
    OpNot = 200,
    OpAtomicLoad = 227,
    OpAtomicStore = 228,
    OpLoopMerge = 246,
    OpLabel = 248,
    OpGroupNonUniformShuffleXor = 346,
    OpGroupNonUniformIAdd = 349,
    OpGroupNonUniformUMax = 357,
    OpGroupNonUniformUMin = 354,
};
constexpr std::uint32_t SPEC_ID = 1;
constexpr std::uint32_t DONT_UNROLL = 2;
constexpr std::uint32_t BY_STEPS = 29;  // lib/src/recording/kernel_constants.hpp
constexpr std::uint32_t REDUCE = 0;
constexpr std::uint32_t INCLUSIVE_SCAN = 1;

// A module that is written anew, instruction by instruction.
class Liar {
 public:
    Liar(std::vector<std::uint32_t> words, const Lie& lie) : words_(std::move(words)), lie_(lie) {}

    std::vector<std::uint32_t> rewritten() {
        made_.assign(words_.begin(), words_.begin() + 5);
        for (std::size_t i = 5; i < words_.size();) {
            const std::size_t length = words_[i] >> 16U;
            rewrite(std::span(words_).subspan(i, length));
            i += length;
        }
        return made_;
    }

 private:
    using Words = std::vector<std::uint32_t>;

    std::uint32_t add(std::uint32_t operation, Words operands, std::size_t result) {
        operands.insert(operands.begin() + static_cast<std::ptrdiff_t>(result), made_[3]);
        made_.push_back(static_cast<std::uint32_t>(operands.size() + 1) << 16U | operation);
        made_.insert(made_.end(), operands.begin(), operands.end());
        return made_[3]++;
    }

    // Types and constants that a module of quadtile may lack come behind its own.
    void define_constants() {
        if (uint_ == 0) {
            return;
        }
        if (bool_ == 0) {
            bool_ = add(OpTypeBool, {}, 0);
        }
        zero_ = add(OpConstant, {uint_, 0}, 1);
        mask_ = add(OpConstant, {uint_, lie_.mask}, 1);
    }

    // Adds code that tells whether the lie spares a message.
    std::uint32_t is_spared(std::uint32_t message) {
        const std::uint32_t bits = add(OpBitwiseAnd, {uint_, message, mask_}, 1);
        return add(OpINotEqual, {bool_, bits, zero_}, 1);
    }

    void copy(std::span<const std::uint32_t> words) {
        made_.insert(made_.end(), words.begin(), words.end());
    }

    void rewrite(std::span<std::uint32_t> words) {
        const std::uint32_t operation = words[0] & 0xffffU;
        if (operation == OpFunction && zero_ == 0) {
            define_constants();
        } else if (operation == OpTypeBool) {
            bool_ = words[1];
        } else if (operation == OpTypeInt && words[3] == 0) {
            uint_ = words[1];
        } else if (operation == OpDecorate && words[2] == SPEC_ID && words[3] == BY_STEPS) {
            by_steps_ = words[1];
        } else if (operation == OpNot) {
            nots_.push_back(words[2]);
        } else if (operation == OpLoopMerge && (words[3] & DONT_UNROLL) != 0) {
            loop_ends_.push_back(words[1]);
        } else if (operation == OpLabel && !loop_ends_.empty() && words[1] == loop_ends_.back()) {
            loop_ends_.pop_back();
        }
        switch (lie_.kind) {
            case Lie::none:
                break;
            case Lie::lost_stores:  // only messages are stored as the complement of something
                if (operation == OpAtomicStore && std::ranges::count(nots_, words[4]) != 0) {
                    words[4] = add(OpSelect, {uint_, is_spared(words[4]), words[4], zero_}, 1);
                }
                break;
            case Lie::stale_loads:  // only messages are loaded in such loops
                if (operation == OpAtomicLoad && !loop_ends_.empty() && by_steps_ != 0) {
                    const std::uint32_t result = words[2];
                    words[2] = made_[3]++;
                    copy(words);
                    const std::uint32_t is_seen =
                        add(OpLogicalOr, {bool_, by_steps_, is_spared(words[2])}, 1);
                    copy(Words{6U << 16U | OpSelect, uint_, result, is_seen, words[2], zero_});
                    return;
                }
                break;
            case Lie::wrong_shuffles:  // each thread gets its own value
                if (operation == OpGroupNonUniformShuffleXor) {
                    words[5] = zero_;
                }
                break;
            case Lie::wrong_scans:
                if (operation == OpGroupNonUniformIAdd && words[4] == INCLUSIVE_SCAN) {
                    words[4] = REDUCE;
                }
                break;
            case Lie::wrong_maxima:
                if (operation == OpGroupNonUniformUMax) {
                    words[0] = words[0] - OpGroupNonUniformUMax + OpGroupNonUniformUMin;
                }
                break;
        }
        copy(words);
    }

    Words words_;
    Lie lie_;
    Words made_;
    std::uint32_t uint_ = 0;
    std::uint32_t bool_ = 0;
    std::uint32_t zero_ = 0;
    std::uint32_t mask_ = 0;
    std::uint32_t by_steps_ = 0;
    std::vector<std::uint32_t> nots_;
    std::vector<std::uint32_t> loop_ends_;  // labels behind the loops that are not to be unrolled
};

}  // namespace

std::vector<std::uint32_t> with_lie(std::vector<std::uint32_t> words, const Lie& lie) {
    return Liar(std::move(words), lie).rewritten();
}

}  // namespace quadtile::test

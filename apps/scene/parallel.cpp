#include "parallel.hpp"

#include <condition_variable>
#include <thread>

namespace quadtile::baker {

namespace {

std::atomic<std::uint32_t> usual_threads = 0;

constexpr std::size_t FEW = 4;

// Threads that wait for work, because new ones take longer than many a loop.
class Workers {
 public:
    Workers() = default;
    Workers(const Workers&) = delete;
    Workers& operator=(const Workers&) = delete;
    ~Workers() {
        {
            const std::scoped_lock lock(mutex_);
            ends_ = true;
        }
        is_work_.notify_all();
    }

    void share(std::size_t others, const std::function<void()>& take) {
        Job job{take, others};
        {
            const std::scoped_lock lock(mutex_);
            while (threads_.size() < others) {
                threads_.emplace_back([this] { run(); });
            }
            jobs_.push_back(&job);
        }
        if (others < FEW) {  // those that wake up for nothing would keep the others waiting
            for (std::size_t i = 0; i < others; ++i) {
                is_work_.notify_one();
            }
        } else {
            is_work_.notify_all();
        }
        take();
        std::unique_lock lock(mutex_);
        std::erase(jobs_, &job);
        is_done_.wait(lock, [&] { return job.takers == 0; });
    }

 private:
    struct Job {
        const std::function<void()>& take;
        std::size_t places;  // left for threads
        std::size_t takers = 0;
    };

    void run() {
        std::unique_lock lock(mutex_);
        while (true) {
            is_work_.wait(lock, [&] { return ends_ || !jobs_.empty(); });
            if (ends_) {
                return;
            }
            Job& job = *jobs_.front();
            if (--job.places == 0) {
                jobs_.erase(jobs_.begin());
            }
            ++job.takers;
            lock.unlock();
            job.take();
            lock.lock();
            if (--job.takers == 0) {
                is_done_.notify_all();
            }
        }
    }

    std::mutex mutex_;
    std::condition_variable is_work_;
    std::condition_variable is_done_;
    std::vector<Job*> jobs_;
    bool ends_ = false;
    std::vector<std::jthread> threads_;  // joined first
};

}  // namespace

void set_threads(std::uint32_t threads) {
    usual_threads = threads;
}

std::uint32_t threads_of(std::uint32_t threads) {
    threads = threads == 0 ? usual_threads.load() : threads;
    return threads == 0 ? std::max(1U, std::thread::hardware_concurrency()) : threads;
}

void share(std::size_t threads, const std::function<void()>& take) {
    static Workers workers;
    if (threads > 1) {
        workers.share(threads - 1, take);
    } else {
        take();
    }
}

}  // namespace quadtile::baker

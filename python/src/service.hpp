// Native half of quadtile.Service: requests whose answers a Python thread takes.

#pragma once

#include "subdivision.hpp"

#include <quadtile/service.hpp>

#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace quadtile::python {

// Answered requests. The library releases a request's texels right before it answers, and then the
// request comes here. So one thread waits for all requests, and no thread of the library ever waits
// for the GIL.
struct Answers;

using Answer = std::variant<TileList, std::exception_ptr>;

// A request under way: the Future, the texels, and the ticket once it exists.
struct Request;

// Service for the Python class. All members need the GIL; those that wait release it meanwhile.
class NativeService {
 public:
    NativeService(const std::vector<std::string>& devices, const ServiceOptions& options);
    ~NativeService();
    NativeService(const NativeService&) = delete;
    NativeService& operator=(const NativeService&) = delete;

    // Submits a request. `deadline_s` and `device` may be None. Returns None (null) if the queue is
    // full and `waits` is not set.
    std::shared_ptr<Request> submit(const py::object& future, Subdivision subdivision,
                                    py::handle priority, py::handle deadline_s, py::handle device,
                                    bool waits);

    // Waits for answers. Returns a list of (Future, tile list or exception); None after a shutdown
    // when all have been taken.
    py::object next_answers();

    // Shuts down as Service::shutdown does, and frees the device objects. Later calls do nothing.
    void shutdown(bool cancel);

    [[nodiscard]] py::dict statistics() const;

 private:
    // Adds the answered requests. `waits`: until there is one, or none will come.
    void take_answered(std::vector<std::pair<std::shared_ptr<Request>, Answer>>& taken, bool waits);

    std::vector<std::string> device_names_;
    std::shared_ptr<Service> service_;  // null after shutdown
    ServiceStatistics last_statistics_;
    std::shared_ptr<Answers> answers_;
};

// Shuts down all Services, for end_calls.
void shut_down_services();
// Returns whether all answers of all Services were taken.
[[nodiscard]] bool all_answers_taken();

void define_service(py::module_& module);

}  // namespace quadtile::python

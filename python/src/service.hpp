// quadtile.Service's native half: requests whose answers a thread of Python's takes.

#pragma once

#include "subdivision.hpp"

#include <quadtile/service.hpp>

#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace quadtile::python {

// Requests that were answered. The library lets go of a request's texels right before it answers;
// that is when the request comes here. So one thread waits for all of them, and no thread of the
// library's ever waits for the GIL.
struct Answers;

using Answer = std::variant<TileList, std::exception_ptr>;

// A request on its way: the Future, the texels, and the ticket once there is one.
struct Request;

// All members need the GIL; those that wait release it meanwhile.
class NativeService {
 public:
    NativeService(const std::vector<std::string>& devices, const ServiceOptions& options);
    ~NativeService();
    NativeService(const NativeService&) = delete;
    NativeService& operator=(const NativeService&) = delete;

    // None (null) where the queue is full and `waits` is not set.
    std::shared_ptr<Request> submit(const py::object& future, Subdivision subdivision, int priority,
                                    std::optional<double> deadline_s,
                                    std::optional<std::uint32_t> device, bool waits);

    // Waits for answers: a list of (Future, tile list or exception). None after a shutdown, when
    // all have been taken.
    py::object next_answers();

    // As Service::shutdown. What it has of the device is freed. Later calls do nothing.
    void shutdown(bool cancel);

    [[nodiscard]] py::dict statistics() const;

 private:
    // Adds the requests that were answered; `waits` until there is one, or none will come.
    void take_answered(std::vector<std::pair<std::shared_ptr<Request>, Answer>>& taken, bool waits);

    std::vector<std::string> device_names_;
    std::shared_ptr<Service> service_;  // null after shutdown
    ServiceStatistics last_statistics_;
    std::shared_ptr<Answers> answers_;
    int process_;
};

// For end_calls: shuts down all Services.
void shut_down_services();
// Whether all answers of all Services were taken.
[[nodiscard]] bool all_answers_taken();

void define_service(py::module_& module);

}  // namespace quadtile::python

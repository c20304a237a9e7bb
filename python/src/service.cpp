#include "service.hpp"

#include "arguments.hpp"
#include "calls.hpp"
#include "devices.hpp"
#include "errors.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <exception>
#include <set>

namespace quadtile::python {

struct Request {
    // The answering thread takes these two out under the GIL, because a thread without it may be
    // the last to release this request.
    py::object future;
    py::object texels;
    // Guarded by the mutex of Answers, as the following members.
    enum class State { submitting, taken, refused } state = State::submitting;
    Ticket ticket;  // of a request that was taken
};

struct Answers {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::shared_ptr<Request>> answered;
    std::size_t awaited = 0;  // submitted, and not given to Python
    bool is_closed = false;   // whether no more will come
};

namespace {

// Services that are not shut down, and those whose answers a thread still takes. Guarded by the
// GIL; never destroyed.
std::set<NativeService*>& services() {
    static auto& all = *new std::set<NativeService*>;
    return all;
}
std::set<std::shared_ptr<Answers>>& open_answers() {
    static auto& all = *new std::set<std::shared_ptr<Answers>>;
    return all;
}

py::object exception_of(const std::exception_ptr& thrown) {
    try {
        std::rethrow_exception(thrown);
    } catch (const Error& error) {
        return exception_object(error);
    } catch (const std::bad_alloc&) {
        return py::reinterpret_borrow<py::object>(PyExc_MemoryError)("out of memory");
    } catch (const std::exception& error) {
        return py::reinterpret_borrow<py::object>(PyExc_RuntimeError)(text_of(error.what()));
    }
}

bool is_lost_device(const std::exception_ptr& thrown) {
    try {
        std::rethrow_exception(thrown);
    } catch (const Error& error) {
        return error.code() == ErrorCode::device_lost;
    } catch (...) {
        return false;
    }
}

// Returns what Python gets for an answer.
py::object value_of(Answer&& answer) {
    try {
        auto* const list = std::get_if<TileList>(&answer);
        return list != nullptr ? py::object(tile_list(std::move(*list)))
                               : exception_of(std::get<std::exception_ptr>(answer));
    } catch (py::error_already_set& error) {  // also then its Future must end
        return error.value();
    } catch (const std::exception&) {
        return exception_of(std::current_exception());
    }
}

std::chrono::milliseconds milliseconds_from(py::handle given, const char* name) {
    const double seconds = double_from(given, name);
    if (!(seconds >= 0.0)) {
        throw py::value_error(std::string(name) + " must be 0 or more seconds, not " +
                              std::to_string(seconds));
    }
    // More than 30 years would not fit a time point.
    return std::chrono::ceil<std::chrono::milliseconds>(
        std::chrono::duration<double>(std::min(seconds, 1e9)));
}

}  // namespace

NativeService::NativeService(const std::vector<std::string>& devices, const ServiceOptions& options)
    : device_names_(devices), answers_(std::make_shared<Answers>()) {
    check_process();
    {
        const WithoutGil without_gil;
        std::vector<Device> shared;
        for (const std::string& device : devices) {
            shared.push_back(shared_device(device)->device);
        }
        service_ = std::make_shared<Service>(shared, options);
    }
    services().insert(this);
}

NativeService::~NativeService() {
    services().erase(this);
    shutdown(false);
}

std::shared_ptr<Request> NativeService::submit(const py::object& future, Subdivision subdivision,
                                               py::handle priority, py::handle deadline_s,
                                               py::handle device, bool waits) {
    check_process();
    if (!service_) {
        throw Error(ErrorCode::cancelled, "the service was shut down; make a new one");
    }
    const auto request = std::make_shared<Request>();
    request->future = future;
    request->texels = std::move(subdivision.map.array);
    SubdivisionRequest submitted = {.map = subdivision.map.view,
                                    .threshold = std::move(subdivision.threshold),
                                    .options = subdivision.options,
                                    .priority = integer_from(priority, "priority")};
    if (!device.is_none()) {
        submitted.device = count32_from(device, "device");
    }
    if (!deadline_s.is_none()) {
        submitted.deadline =
            std::chrono::steady_clock::now() + milliseconds_from(deadline_s, "deadline_s");
    }
    // Called by the answering thread, or by this one if the request is refused.
    submitted.texels_owner = std::shared_ptr<const void>(
        submitted.map.texels, [request, answers = answers_](const void*) {
            {
                const std::lock_guard lock(answers->mutex);
                answers->answered.push_back(request);
            }
            answers->changed.notify_all();
        });
    {
        const std::lock_guard lock(answers_->mutex);
        ++answers_->awaited;
    }
    std::optional<Ticket> ticket;
    std::exception_ptr failure;
    try {
        // A short call with the GIL, because submitting threads would wait longer for it than for
        // this. For thresholds by node it reads all nodes.
        const std::shared_ptr<Service> service = service_;
        const bool is_short = !submitted.threshold.is_by_node();
        if (is_short) {
            ticket = service->try_submit(submitted);
        }
        if (!ticket && (waits || !is_short)) {
            const WithoutGil without_gil;
            ticket = waits ? service->submit(submitted) : service->try_submit(submitted);
        }
    } catch (...) {
        failure = std::current_exception();
    }
    submitted.texels_owner.reset();
    const bool is_taken = ticket.has_value();
    {
        const std::lock_guard lock(answers_->mutex);
        request->state = is_taken ? Request::State::taken : Request::State::refused;
        if (is_taken) {
            request->ticket = std::move(*ticket);
        } else {
            --answers_->awaited;
        }
    }
    answers_->changed.notify_all();
    if (!is_taken) {
        request->future = {};
        request->texels = {};
    }
    if (failure) {
        std::rethrow_exception(failure);
    }
    return is_taken ? request : nullptr;
}

void NativeService::take_answered(std::vector<std::pair<std::shared_ptr<Request>, Answer>>& taken,
                                  bool waits) {
    std::deque<std::shared_ptr<Request>> answered;
    {
        std::unique_lock lock(answers_->mutex);
        const auto collect = [&] {
            std::erase_if(answers_->answered, [&](const std::shared_ptr<Request>& request) {
                if (request->state == Request::State::taken) {
                    answered.push_back(request);
                }
                return request->state != Request::State::submitting;
            });
            return !answered.empty() || (answers_->is_closed && answers_->awaited == 0);
        };
        if (waits) {
            answers_->changed.wait(lock, collect);
        } else {
            (void)collect();
        }
        answers_->awaited -= answered.size();
    }
    for (const std::shared_ptr<Request>& request : answered) {
        try {
            taken.emplace_back(request, request->ticket.result.get());
        } catch (...) {
            taken.emplace_back(request, std::current_exception());
        }
        const auto* const failure = std::get_if<std::exception_ptr>(&taken.back().second);
        if (failure != nullptr && is_lost_device(*failure)) {
            std::ranges::for_each(device_names_, forget_device);
        }
    }
}

py::object NativeService::next_answers() {
    open_answers().insert(answers_);
    std::vector<std::pair<std::shared_ptr<Request>, Answer>> taken;
    {
        const WithoutGil without_gil(WithoutGil::AtExit::allowed);
        take_answered(taken, true);
    }
    if (taken.empty()) {
        open_answers().erase(answers_);
        return py::none();
    }
    // Includes answers that came while this thread waited for the GIL.
    take_answered(taken, false);
    py::list answers;
    for (auto& [request, answer] : taken) {
        answers.append(py::make_tuple(std::move(request->future), value_of(std::move(answer))));
        request->future = {};
        request->texels = {};
    }
    return answers;
}

void NativeService::shutdown(bool cancel) {
    if (is_forked()) {
        service_.reset();
        return;
    }
    std::shared_ptr<Service> service = service_;
    if (!service) {
        return;
    }
    {
        const WithoutGil without_gil(WithoutGil::AtExit::allowed);
        service->shutdown(cancel ? Shutdown::cancel : Shutdown::finish);
    }
    if (service_) {
        last_statistics_ = service_->statistics();
        service_.reset();
    }
    const WithoutGil without_gil(WithoutGil::AtExit::allowed);
    service.reset();
    {
        const std::lock_guard lock(answers_->mutex);
        answers_->is_closed = true;
    }
    answers_->changed.notify_all();
}

py::dict NativeService::statistics() const {
    check_process();
    const ServiceStatistics now = service_ ? service_->statistics() : last_statistics_;
    py::list devices;
    for (const DeviceStatistics& device : now.devices) {
        devices.append(py::dict(py::arg("lost") = device.lost, py::arg("runs") = device.runs,
                                py::arg("succeeded") = device.succeeded));
    }
    return py::dict(
        py::arg("submitted") = now.submitted, py::arg("succeeded") = now.succeeded,
        py::arg("failed") = now.failed, py::arg("cancelled") = now.cancelled,
        py::arg("expired") = now.expired, py::arg("runs") = now.runs,
        py::arg("largest_batch") = now.largest_batch, py::arg("memory_bytes") = now.memory_bytes,
        py::arg("most_memory_bytes") = now.most_memory_bytes, py::arg("devices") = devices);
}

void shut_down_services() {
    // A service may be destroyed or made while another one is shut down.
    while (!services().empty()) {
        NativeService* const service = *services().begin();
        services().erase(services().begin());
        service->shutdown(true);
    }
}

bool all_answers_taken() {
    return open_answers().empty();
}

void define_service(py::module_& module) {
    py::class_<Request, std::shared_ptr<Request>>(module, "Request")
        .def("cancel", [](Request& request) {
            check_process();
            const WithoutGil without_gil(WithoutGil::AtExit::allowed);
            return request.ticket.cancel();
        });
    py::class_<NativeService>(module, "Service")
        .def(py::init([](const py::list& devices, py::handle strategy, py::handle lanes,
                         py::handle max_batch_layers, py::handle queue_capacity,
                         py::handle memory_limit_bytes, py::handle gpu_timeout_s,
                         py::handle repeat_lost) {
            std::vector<std::string> names;
            for (const py::handle device : devices) {
                names.push_back(text_from(device, "device"));
            }
            return std::make_unique<NativeService>(
                names,
                ServiceOptions{
                    .strategy = strategy_from(strategy),
                    .lanes = count32_from(lanes, "lanes"),
                    .max_batch_layers = count32_from(max_batch_layers, "max_batch_layers"),
                    .queue_capacity = count_from(queue_capacity, "queue_capacity"),
                    .memory_limit_bytes = count_from(memory_limit_bytes, "memory_limit_bytes"),
                    .gpu_timeout = milliseconds_from(gpu_timeout_s, "gpu_timeout_s"),
                    .repeat_lost = flag_from(repeat_lost, "repeat_lost")});
        }))
        .def("submit",
             [](NativeService& service, const py::object& future, py::handle map,
                const py::tuple& threshold, const py::tuple& options, py::handle priority,
                py::handle deadline_s, py::handle device, py::handle waits) {
                 return service.submit(future, subdivision_from(map, threshold, options), priority,
                                       deadline_s, device, flag_from(waits, "wait"));
             })
        .def("next_answers", &NativeService::next_answers)
        .def("shutdown", [](NativeService& service,
                            py::handle cancel) { service.shutdown(flag_from(cancel, "cancel")); })
        .def("statistics", &NativeService::statistics);
}

}  // namespace quadtile::python

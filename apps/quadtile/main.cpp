#include "command_line.hpp"
#include "message_line.hpp"
#include "output_file.hpp"

#include <fcntl.h>

#include <csignal>
#include <iostream>
#include <new>
#include <string_view>

namespace quadtile::app {

namespace {

// Failed writes become errors where they happen instead of signals that end the process.
void prepare_process() {
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);
    // A standard stream that the caller closed stays closed: without this the next file that is
    // opened would take its number and receive what is meant for it.
    for (int stream = 0; stream <= 2; ++stream) {
        if (::fcntl(stream, F_GETFD) < 0) {
            ::open("/dev/null", stream == 0 ? O_WRONLY : O_RDONLY);
        }
    }
}

void run(const TextRequest& request) {
    OutputFile output = OutputFile::standard_output();
    output.write(request.text);
    output.commit();
}
void run(const TilesRequest& request) {
    run_tiles(request);
}
void run(const MipmapRequest& request) {
    run_mipmap(request);
}
void run(const CompileRequest& request) {
    run_compile(request);
}
void run(const DevicesRequest& request) {
    run_devices(request);
}
void run(const DemoRequest& request) {
    run_demo(request);
}

int fail(std::string_view message, int status) {
    std::cerr << message_line("quadtile: error", message) << std::endl;
    return status;
}

}  // namespace

}  // namespace quadtile::app

int main(int argc, char** argv) {
    using namespace quadtile::app;
    prepare_process();
    try {
        std::visit([](const auto& request) { run(request); }, parse_command_line(argc, argv));
        return 0;
    } catch (const UsageError& error) {
        return fail(error.what(), 2);
    } catch (const std::bad_alloc&) {
        return fail("there is not enough memory for this image; use a smaller one", 1);
    } catch (const std::exception& error) {
        return fail(error.what(), 1);
    }
}

/* The C API from C99: every function, every error, and lists that are those of the reference. */

/* mmap, nanosleep, setenv, sysconf */
#define _DEFAULT_SOURCE

#include "lane_gate.h"
#include "reference_tiles.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static int failures = 0;

static void check(int is_true, const char* what, int line) {
    if (!is_true) {
        printf("line %d: %s (last error: %s)\n", line, what, quadtile_last_error());
        ++failures;
    }
}
#define CHECK(condition) check(condition, #condition, __LINE__)

static void check_empty(const char* text, int line) {
    if (text[0] != '\0') {
        printf("line %d: %s\n", line, text);
        ++failures;
    }
}

/* A call fails with this status and a message that has these words. */
static void check_fails(quadtile_status status, quadtile_status expected, const char* words,
                        int line) {
    if (status != expected || strstr(quadtile_last_error(), words) == NULL) {
        printf("line %d: status %d where %d and '%s' were expected (last error: %s)\n", line,
               (int)status, (int)expected, words, quadtile_last_error());
        ++failures;
    }
}
#define CHECK_FAILS(call, status, words) check_fails(call, status, words, __LINE__)
#define CHECK_INVALID(call, words) CHECK_FAILS(call, QUADTILE_ERROR_INVALID_ARGUMENT, words)

/* ---- Services and maps */

static int validation = 1; /* where the layer is installed */
static int validation_messages = 0;

static void log_message(void* user_data, int32_t severity, const char* message) {
    if (severity == QUADTILE_SEVERITY_INFO) {
        return;
    }
    printf("severity %d: %s\n", (int)severity, message);
    ++*(int*)user_data;
}

static quadtile_service_options default_options(void) {
    quadtile_service_options options;
    CHECK(quadtile_service_options_init(&options, sizeof options) == QUADTILE_SUCCESS);
    options.log = log_message;
    options.log_user_data = &validation_messages;
    return options;
}

/* The test cannot go on without one. */
static quadtile_service* make_service(quadtile_service_options options) {
    quadtile_service* service = NULL;
    options.validation = validation;
    quadtile_status status = quadtile_service_create(&options, &service);
    if (status == QUADTILE_ERROR_UNSUPPORTED && validation) {
        printf("VALIDATION IS OFF: %s\n", quadtile_last_error());
        validation = 0;
        options.validation = 0;
        status = quadtile_service_create(&options, &service);
    }
    if (status != QUADTILE_SUCCESS) {
        printf("there is no service to test: %s\n", quadtile_last_error());
        exit(1);
    }
    return service;
}

/* Of one lane, so that what is submitted second waits. */
static quadtile_service* one_lane(void) {
    quadtile_service_options options = default_options();
    options.lanes = 1;
    return make_service(options);
}

/* A copy whose end is the end of readable memory: who reads behind it crashes. Never unmapped. */
static void* at_end_of_memory(const void* data, size_t size) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char* pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(size <= page && mprotect(pages + page, page, PROT_NONE) == 0);
    return memcpy(pages + page - size, data, size);
}

static uint32_t random_state = 1;
static uint32_t random_number(void) {
    random_state = random_state * 1664525u + 1013904223u;
    return random_state >> 8;
}

#define MAX_TEXELS (1024 * 1024)
static float floats[MAX_TEXELS]; /* in [0, 1) */
static uint16_t halves[MAX_TEXELS];
static uint8_t bytes[MAX_TEXELS];
static float special[MAX_TEXELS]; /* with NaN and infinities */

static void fill_maps(void) {
    for (size_t i = 0; i < MAX_TEXELS; ++i) {
        floats[i] = (float)random_number() / (float)(1 << 24);
        halves[i] = (uint16_t)(random_number() % 0x7c00); /* finite, as halves */
        bytes[i] = (uint8_t)random_number();
        const float zero = 0.0f * floats[i];
        special[i] = i % 50 == 7 ? zero / zero : i % 50 == 9 ? -1.0f / zero : floats[i];
    }
}

static quadtile_request request_of(const void* texels, uint32_t width, uint32_t height) {
    quadtile_request request;
    CHECK(quadtile_request_init(&request, sizeof request) == QUADTILE_SUCCESS);
    request.texels = texels;
    request.width = width;
    request.height = height;
    request.threshold_kind = QUADTILE_THRESHOLD_CONSTANT;
    request.threshold_value = 0.9f;
    return request;
}

static quadtile_request small_request(void) {
    return request_of(floats, 60, 40);
}

/* One that keeps its lane at a gate. */
static quadtile_request gated_request(const lane_gate* gate) {
    return request_of(lane_gate_texels(gate), 50, 70);
}

static lane_gate* make_gate(void) {
    return lane_gate_make(floats, sizeof(float) * 50 * 70);
}

static quadtile_ticket* submit(quadtile_service* service, quadtile_request request) {
    quadtile_ticket* ticket = NULL;
    CHECK(quadtile_service_submit(service, &request, &ticket) == QUADTILE_SUCCESS);
    CHECK(ticket != NULL);
    return ticket;
}

/* Submits a request that keeps a lane, and waits until the lane is at the gate. */
static quadtile_ticket* hold_lane(quadtile_service* service, lane_gate* gate) {
    quadtile_ticket* ticket = submit(service, gated_request(gate));
    CHECK(lane_gate_wait(gate));
    return ticket;
}

/* Ends what was held: the gate opens, and all of it goes. */
static void end(quadtile_service* service, lane_gate* gate, quadtile_ticket* runs) {
    lane_gate_open(gate);
    quadtile_ticket_free(runs);
    quadtile_service_destroy(service);
    lane_gate_free(gate);
}

/* Opens a gate a moment later: while the others wait for what it keeps. */
struct opener {
    lane_gate* gate;
    pthread_t thread;
    volatile int has_opened;
};

static void* open_gate(void* given) {
    struct opener* opener = given;
    const struct timespec moment = {0, 20000000};
    nanosleep(&moment, NULL);
    opener->has_opened = 1;
    lane_gate_open(opener->gate);
    return NULL;
}

static void open_soon(struct opener* opener, lane_gate* gate) {
    opener->gate = gate;
    opener->has_opened = 0;
    CHECK(pthread_create(&opener->thread, NULL, open_gate, opener) == 0);
}

/* Takes the list of a request that succeeds, compares it, and frees the ticket. */
static const quadtile_tile_list* take_checked(quadtile_ticket* ticket,
                                              const quadtile_request* request, int line) {
    const quadtile_tile_list* list = NULL;
    const quadtile_status status = quadtile_ticket_take(ticket, &list);
    check(status == QUADTILE_SUCCESS && list != NULL, "a list", line);
    if (list != NULL) {
        check_empty(difference_from_reference(request, list), line);
    }
    quadtile_ticket_free(ticket);
    return list;
}

static void check_answer(quadtile_service* service, quadtile_request request, int line) {
    quadtile_tile_list_free(take_checked(submit(service, request), &request, line));
}
#define CHECK_ANSWER(service, request) check_answer(service, request, __LINE__)

static void check_error(quadtile_ticket* ticket, quadtile_status expected, const char* words,
                        int line) {
    const quadtile_tile_list* list = (const quadtile_tile_list*)&failures;
    check_fails(quadtile_ticket_take(ticket, &list), expected, words, line);
    check(list == NULL, "no list", line);
    quadtile_ticket_free(ticket);
}
#define CHECK_ERROR(ticket, status, words) check_error(ticket, status, words, __LINE__)

/* ---- What succeeds */

static void lists_are_those_of_the_reference(void) {
    const struct {
        const void* texels;
        int32_t format;
    } maps[] = {
        {special, QUADTILE_FORMAT_R32_FLOAT}, {halves, QUADTILE_FORMAT_R16_FLOAT},
        {floats, QUADTILE_FORMAT_D32_FLOAT},  {halves, QUADTILE_FORMAT_R16_UNORM},
        {bytes, QUADTILE_FORMAT_R8_UNORM},    {halves, QUADTILE_FORMAT_D16_UNORM},
    };
    const uint32_t sizes[][3] = {{1, 1, 1}, {130, 70, 3}, {257, 33, 1}};
    const uint32_t levels[] = {1, 9, 10}; /* of these sizes */
    const float thresholds[] = {0.9f, 0.8f, 0.95f, 0.99f, 0.5f, 1.5f, 0.9f, 2.0f, 0.1f, 0.1f};
    quadtile_service* service = make_service(default_options());
    for (size_t map = 0; map < sizeof maps / sizeof *maps; ++map) {
        const size_t size = (map + 1) % 3;
        quadtile_request request = request_of(maps[map].texels, sizes[size][0], sizes[size][1]);
        request.layers = sizes[size][2];
        request.format = maps[map].format;
        CHECK_ANSWER(service, request);

        request.threshold_kind = QUADTILE_THRESHOLD_PER_LEVEL;
        request.threshold_levels = thresholds;
        request.threshold_level_count = levels[size];
        CHECK_ANSWER(service, request);

        request.threshold_kind = QUADTILE_THRESHOLD_MAX_RESOLUTION;
        request.threshold_value = 16.0f;
        request.order = QUADTILE_ORDER_ANY;
        CHECK_ANSWER(service, request);

        request.threshold_kind = QUADTILE_THRESHOLD_MEMORY;
        request.nodes = 200.0f;
        request.fragments = bytes;
        request.fragments_format = QUADTILE_FORMAT_R8_UNORM;
        CHECK_ANSWER(service, request);
    }
    quadtile_service_destroy(service);
}

static void thresholds_are_compiled_from_glsl(void) {
    const char* glsl =
        "float threshold(uint level, uvec2 position, uint layer) {\n"
        "    return threshold_parameter(0) + threshold_parameter(1);\n"
        "}\n";
    const float parameters[] = {0.5f, 0.25f};
    quadtile_service* service = make_service(default_options());
    quadtile_request request = request_of(floats, 130, 70);
    request.threshold_kind = QUADTILE_THRESHOLD_GLSL;
    request.threshold_glsl = glsl;
    request.threshold_parameters = parameters;
    request.threshold_parameter_count = 2;
    const quadtile_tile_list* list = NULL;
    quadtile_ticket* ticket = submit(service, request);
    const quadtile_status status = quadtile_ticket_take(ticket, &list);
    quadtile_ticket_free(ticket);
    if (status == QUADTILE_ERROR_UNSUPPORTED) {
        printf("skipped: %s\n", quadtile_last_error());
    } else {
        CHECK(status == QUADTILE_SUCCESS);
        request.threshold_kind = QUADTILE_THRESHOLD_CONSTANT;
        request.threshold_value = 0.75f;
        check_empty(difference_from_reference(&request, list), __LINE__);
        quadtile_tile_list_free(list);
        request.threshold_kind = QUADTILE_THRESHOLD_GLSL;
        request.threshold_glsl = "float threshold(uint level";
        CHECK_ERROR(submit(service, request), QUADTILE_ERROR_INVALID_ARGUMENT,
                    "threshold:1: error: ");
    }
    quadtile_service_destroy(service);
}

static void lists_say_how_they_came_about(void) {
    const struct {
        int32_t strategy;
        const char* name;
    } strategies[] = {{QUADTILE_STRATEGY_PER_LEVEL, "per_level"},
                      {QUADTILE_STRATEGY_SUBTREE, "subtree"},
                      {QUADTILE_STRATEGY_FUSED, "fused"}};
    for (size_t i = 0; i < 3; ++i) {
        quadtile_service_options options = default_options();
        options.strategy = strategies[i].strategy;
        quadtile_service* service = make_service(options);
        const quadtile_device_info* device = NULL;
        CHECK(quadtile_service_device(service, &device) == QUADTILE_SUCCESS);
        const quadtile_request request = small_request();
        const quadtile_tile_list* list = take_checked(submit(service, request), &request, __LINE__);
        CHECK(strcmp(list->strategy, strategies[i].name) == 0);
        CHECK(strcmp(list->strategy_reason, "") == 0);
        CHECK(strcmp(list->device, device->name) == 0);
        CHECK(list->stage_count > 1 && strcmp(list->stages[0].name, "wait") == 0);
        CHECK(list->stages[0].on_gpu == 0 && list->stages[0].milliseconds >= 0.0);
        quadtile_tile_list_free(list);
        quadtile_service_destroy(service);
    }
}

static void a_list_outlives_ticket_and_service(void) {
    quadtile_service* service = NULL;
    CHECK(quadtile_service_create(NULL, &service) == QUADTILE_SUCCESS);
    const quadtile_request request = small_request();
    quadtile_ticket* taken = submit(service, request);
    quadtile_ticket* later = submit(service, request);
    const quadtile_tile_list* list = take_checked(taken, &request, __LINE__);
    CHECK(list->strategy_reason[0] != '\0');
    quadtile_service_destroy(service);
    check_empty(difference_from_reference(&request, list), __LINE__);
    quadtile_tile_list_free(list);
    quadtile_tile_list_free(take_checked(later, &request, __LINE__));
}

static void budgets_are_kept(void) {
    quadtile_service* service = make_service(default_options());
    quadtile_request request = request_of(floats, 128, 128);
    request.max_tiles = 3000;
    const quadtile_tile_list* list = take_checked(submit(service, request), &request, __LINE__);
    CHECK(list->tile_count <= 3000 && list->threshold_factor > 1.0f);
    quadtile_tile_list_free(list);
    quadtile_service_destroy(service);
}

static void devices_are_described(void) {
    const quadtile_device_list* list = NULL;
    CHECK(quadtile_enumerate_devices(&list) == QUADTILE_SUCCESS);
    quadtile_service_options options = default_options();
    char number[16] = "";
    options.device = number;
    uint32_t usable = 0;
    for (uint32_t i = 0; i < list->device_count; ++i) {
        const quadtile_device_info* device = list->devices[i];
        CHECK(device->index == i && device->name[0] != '\0' && device->type[0] != '\0');
        if (device->rejections[0] != '\0') {
            continue;
        }
        CHECK(device->max_map_extent >= 4096 && device->max_layers > 0 && device->max_tiles > 0);
        CHECK(device->api_version >= 1u << 22 && device->local_memory_bytes > 0);
        CHECK(device->driver[0] != '\0');
        ++usable;
        snprintf(number, sizeof number, "%u", (unsigned)i);
        quadtile_service* service = make_service(options);
        const quadtile_device_info* used = NULL;
        CHECK(quadtile_service_device(service, &used) == QUADTILE_SUCCESS);
        CHECK(used->index == i && strcmp(used->name, device->name) == 0);
        quadtile_service_destroy(service);
    }
    CHECK(usable > 0);
    quadtile_device_list_free(list);
}

/* The layer's advice is provoked; it says nothing of itself. */
static void messages_reach_the_log(void) {
    quadtile_service_options options = default_options();
    int messages = 0;
    options.log_user_data = &messages;
    setenv("VK_LAYER_ENABLES", "VK_VALIDATION_FEATURE_ENABLE_BEST_PRACTICES_EXT", 1);
    quadtile_service_destroy(make_service(options));
    unsetenv("VK_LAYER_ENABLES");
    CHECK(messages > 0 || !validation);
}

static void texels_are_copied_on_request(void) {
    quadtile_service* service = one_lane();
    lane_gate* gate = make_gate();
    quadtile_ticket* runs = hold_lane(service, gate);
    float texels[60 * 40];
    memcpy(texels, floats, sizeof texels);
    quadtile_request request = request_of(texels, 60, 40);
    request.copy_texels = 1;
    quadtile_ticket* ticket = submit(service, request);
    CHECK(quadtile_ticket_wait(ticket, 0) == QUADTILE_NOT_READY);
    memset(texels, 0, sizeof texels);
    lane_gate_open(gate);
    request.texels = floats;
    quadtile_tile_list_free(take_checked(ticket, &request, __LINE__));
    end(service, gate, runs);
}

/* Whoever reads the texels after that crashes. */
static void a_freed_ticket_that_waits_lets_go_of_the_texels(void) {
    const size_t size = sizeof(float) * 4096 * 4096;
    void* texels = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    quadtile_service* service = one_lane();
    lane_gate* gate = make_gate();
    quadtile_ticket* runs = hold_lane(service, gate);
    quadtile_ticket_free(submit(service, request_of(texels, 4096, 4096)));
    CHECK(mprotect(texels, size, PROT_NONE) == 0);
    CHECK(quadtile_ticket_wait(runs, 0) == QUADTILE_NOT_READY);
    lane_gate_open(gate);
    CHECK_ANSWER(service, small_request());
    end(service, gate, runs);
    munmap(texels, size);
}

static void a_freed_ticket_that_runs_lets_go_of_the_texels(void) {
    const size_t size = sizeof(float) * 1024 * 1024;
    quadtile_service* service = one_lane();
    lane_gate* gate = lane_gate_make(floats, size);
    quadtile_ticket* runs = submit(service, request_of(lane_gate_texels(gate), 1024, 1024));
    CHECK(lane_gate_wait(gate));
    struct opener opener;
    open_soon(&opener, gate);
    quadtile_ticket_free(runs);
    CHECK(opener.has_opened); /* it has waited for the lane */
    CHECK(pthread_join(opener.thread, NULL) == 0);
    CHECK(mprotect(lane_gate_texels(gate), size, PROT_NONE) == 0);
    CHECK_ANSWER(service, small_request());
    quadtile_service_destroy(service);
    lane_gate_free(gate);
}

static void tickets_are_waited_for(void) {
    quadtile_service* service = one_lane();
    lane_gate* gate = make_gate();
    quadtile_ticket* ticket = hold_lane(service, gate);
    CHECK(quadtile_ticket_wait(ticket, 0) == QUADTILE_NOT_READY);
    CHECK(quadtile_ticket_wait(ticket, 1) == QUADTILE_NOT_READY);
    struct opener opener;
    open_soon(&opener, gate);
    CHECK(quadtile_ticket_wait(ticket, QUADTILE_NO_TIMEOUT) == QUADTILE_SUCCESS);
    CHECK(opener.has_opened);
    CHECK(pthread_join(opener.thread, NULL) == 0);
    CHECK(quadtile_ticket_wait(ticket, 0) == QUADTILE_SUCCESS);
    const quadtile_tile_list* list = NULL;
    const quadtile_tile_list* again = NULL;
    CHECK(quadtile_ticket_take(ticket, &list) == QUADTILE_SUCCESS);
    CHECK(quadtile_ticket_wait(ticket, 0) == QUADTILE_SUCCESS);
    CHECK_INVALID(quadtile_ticket_take(ticket, &again), "taken before");
    CHECK(again == NULL);
    quadtile_tile_list_free(list);
    quadtile_ticket_free(ticket);
    quadtile_service_destroy(service);
    lane_gate_free(gate);
}

/* The first of the low ones has a gate, too: what comes before it has been answered then. */
static void higher_priorities_come_first(void) {
    quadtile_service* service = one_lane();
    lane_gate* gate = make_gate();
    lane_gate* low_gate = make_gate();
    quadtile_ticket* runs = hold_lane(service, gate);
    quadtile_ticket* low[3];
    for (int i = 0; i < 3; ++i) {
        low[i] = submit(service, i == 0 ? gated_request(low_gate) : request_of(floats, 50, 70));
    }
    quadtile_request request = small_request();
    request.priority = 1;
    quadtile_ticket* urgent = submit(service, request);
    lane_gate_open(gate);
    CHECK(lane_gate_wait(low_gate));
    CHECK(quadtile_ticket_wait(urgent, 0) == QUADTILE_SUCCESS);
    for (int i = 0; i < 3; ++i) {
        CHECK(quadtile_ticket_wait(low[i], 0) == QUADTILE_NOT_READY);
    }
    lane_gate_open(low_gate);
    for (int i = 2; i >= 0; --i) {
        quadtile_ticket_free(low[i]);
    }
    quadtile_ticket_free(urgent);
    quadtile_ticket_free(runs);
    quadtile_service_destroy(service);
    lane_gate_free(low_gate);
    lane_gate_free(gate);
}

/* ---- What does not */

static void waiting_requests_can_be_cancelled(void) {
    quadtile_service* service = one_lane();
    lane_gate* gate = make_gate();
    quadtile_ticket* runs = hold_lane(service, gate);
    quadtile_ticket* waiting = submit(service, small_request());
    CHECK(quadtile_ticket_cancel(waiting) == QUADTILE_SUCCESS);
    CHECK(quadtile_ticket_cancel(waiting) == QUADTILE_TOO_LATE);
    CHECK(quadtile_ticket_wait(waiting, 0) == QUADTILE_SUCCESS);
    CHECK_ERROR(waiting, QUADTILE_ERROR_CANCELLED, "cancelled");
    quadtile_ticket_free(submit(service, small_request())); /* this cancels, too */
    CHECK(quadtile_ticket_cancel(runs) == QUADTILE_TOO_LATE);
    CHECK(quadtile_ticket_wait(runs, 0) == QUADTILE_NOT_READY);
    lane_gate_open(gate);
    CHECK(quadtile_ticket_wait(runs, QUADTILE_NO_TIMEOUT) == QUADTILE_SUCCESS);
    CHECK(quadtile_ticket_cancel(runs) == QUADTILE_TOO_LATE);
    end(service, gate, runs);
}

static void deadlines_pass(void) {
    quadtile_service* service = one_lane();
    lane_gate* gate = make_gate();
    quadtile_ticket* runs = hold_lane(service, gate);
    quadtile_request request = small_request();
    request.deadline_ms = 1;
    quadtile_ticket* late = submit(service, request);
    request.deadline_ms = UINT64_MAX;
    quadtile_ticket* in_time = submit(service, request);
    CHECK_ERROR(late, QUADTILE_ERROR_DEADLINE_EXCEEDED, "deadline");
    CHECK(quadtile_ticket_wait(in_time, 0) == QUADTILE_NOT_READY);
    lane_gate_open(gate);
    quadtile_tile_list_free(take_checked(in_time, &request, __LINE__));
    end(service, gate, runs);
}

static void a_full_queue_refuses(void) {
    quadtile_service_options options = default_options();
    options.lanes = 1;
    options.queue_capacity = 2;
    quadtile_service* service = make_service(options);
    lane_gate* gate = make_gate();
    quadtile_ticket* runs = hold_lane(service, gate);
    const quadtile_request request = small_request();
    quadtile_ticket* tickets[3] = {NULL};
    for (int i = 0; i < 3; ++i) {
        tickets[i] = (quadtile_ticket*)&failures;
        CHECK(quadtile_service_try_submit(service, &request, &tickets[i]) ==
              (i < 2 ? QUADTILE_SUCCESS : QUADTILE_QUEUE_FULL));
        CHECK((tickets[i] != NULL) == (i < 2));
    }
    struct opener opener;
    open_soon(&opener, gate);
    quadtile_ticket* later = submit(service, request);
    CHECK(opener.has_opened); /* it has waited for room */
    CHECK(pthread_join(opener.thread, NULL) == 0);
    quadtile_tile_list_free(take_checked(later, &request, __LINE__));
    for (int i = 2; i >= 0; --i) {
        quadtile_ticket_free(tickets[i]);
    }
    end(service, gate, runs);
}

static void the_memory_limit_is_kept(void) {
    quadtile_service_options options = default_options();
    options.memory_limit_bytes = 4u << 20;
    quadtile_service* service = make_service(options);
    CHECK_ERROR(submit(service, request_of(floats, 1024, 1024)), QUADTILE_ERROR_OUT_OF_MEMORY,
                "memory limit");
    CHECK_ANSWER(service, small_request());
    quadtile_service_destroy(service);
}

static void what_only_the_device_knows_is_answered(void) {
    quadtile_service* service = make_service(default_options());
    const quadtile_device_info* device = NULL;
    CHECK(quadtile_service_device(service, &device) == QUADTILE_SUCCESS);
    if (device->max_map_extent < 65536) {
        CHECK_ERROR(submit(service, request_of(floats, device->max_map_extent + 1, 1)),
                    QUADTILE_ERROR_UNSUPPORTED, "");
    }
    quadtile_request request = small_request();
    request.max_tiles = 1;
    request.layers = 2;
    CHECK_ERROR(submit(service, request), QUADTILE_ERROR_INVALID_ARGUMENT, "max_tiles is 1");
    quadtile_service_destroy(service);
}

static void null_is_refused(void) {
    quadtile_service* service = make_service(default_options());
    const quadtile_request request = small_request();
    quadtile_ticket* ticket = (quadtile_ticket*)&failures;
    const quadtile_device_info* device = NULL;
    const quadtile_tile_list* list = NULL;

    CHECK_INVALID(quadtile_enumerate_devices(NULL), "list is NULL");
    CHECK_INVALID(quadtile_service_options_init(NULL, sizeof(quadtile_service_options)),
                  "options is NULL");
    CHECK_INVALID(quadtile_service_create(NULL, NULL), "service is NULL");
    CHECK_INVALID(quadtile_service_device(NULL, &device), "service is NULL");
    CHECK_INVALID(quadtile_service_device(service, NULL), "device is NULL");
    CHECK_INVALID(quadtile_request_init(NULL, sizeof request), "request is NULL");
    CHECK_INVALID(quadtile_service_submit(NULL, &request, &ticket), "service is NULL");
    CHECK(ticket == NULL);
    CHECK_INVALID(quadtile_service_submit(service, NULL, &ticket), "request is NULL");
    CHECK_INVALID(quadtile_service_submit(service, &request, NULL), "ticket is NULL");
    CHECK_INVALID(quadtile_service_try_submit(NULL, &request, &ticket), "service is NULL");
    CHECK_INVALID(quadtile_service_try_submit(service, NULL, &ticket), "request is NULL");
    CHECK_INVALID(quadtile_service_try_submit(service, &request, NULL), "ticket is NULL");
    CHECK_INVALID(quadtile_ticket_wait(NULL, 0), "ticket is NULL");
    CHECK_INVALID(quadtile_ticket_cancel(NULL), "ticket is NULL");
    CHECK_INVALID(quadtile_ticket_take(NULL, &list), "ticket is NULL");
    ticket = submit(service, request);
    CHECK_INVALID(quadtile_ticket_take(ticket, NULL), "list is NULL");
    quadtile_tile_list_free(take_checked(ticket, &request, __LINE__)); /* it was not lost */

    quadtile_device_list_free(NULL);
    quadtile_service_destroy(NULL);
    quadtile_ticket_free(NULL);
    quadtile_tile_list_free(NULL);
    quadtile_service_destroy(service);
}

static void bad_requests_are_refused(void) {
    quadtile_service* service = make_service(default_options());
    quadtile_ticket* ticket = NULL;
    const float negative[] = {1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, -1.0f};
    quadtile_request request;
#define CHECK_REFUSED(change, words)                                               \
    request = small_request();                                                     \
    change;                                                                        \
    CHECK_INVALID(quadtile_service_submit(service, &request, &ticket), words);     \
    CHECK_INVALID(quadtile_service_try_submit(service, &request, &ticket), words); \
    CHECK(ticket == NULL)

    CHECK_REFUSED(request.struct_size = 0, "struct_size is 0");
    CHECK_REFUSED(request.struct_size += 8, "struct_size");
    CHECK_REFUSED(request.texels = NULL, "texels is NULL");
    CHECK_REFUSED(request.width = 0, "width");
    CHECK_REFUSED(request.height = 0, "height");
    CHECK_REFUSED(request.layers = 0, "layers");
    CHECK_REFUSED(request.width = 65537, "65537");
    CHECK_REFUSED((request.copy_texels = 1, request.width = request.height = 65536), "2^32");
    CHECK_REFUSED(request.format = 6, "format is 6");
    CHECK_REFUSED(request.format = -1, "QUADTILE_FORMAT_*");
    CHECK_REFUSED(request.order = 2, "order is 2");
    CHECK_REFUSED(request.threshold_kind = 0, "threshold_kind is 0");
    CHECK_REFUSED(request.threshold_kind = 6, "threshold_kind is 6");
    CHECK_REFUSED(request.threshold_kind = QUADTILE_THRESHOLD_GLSL, "threshold_glsl is NULL");
    CHECK_REFUSED((request.threshold_kind = QUADTILE_THRESHOLD_GLSL, request.threshold_glsl = "x",
                   request.threshold_parameter_count = 1),
                  "threshold_parameters is NULL");
    CHECK_REFUSED((request.threshold_kind = QUADTILE_THRESHOLD_GLSL, request.threshold_glsl = "x",
                   request.threshold_parameters = floats, request.threshold_parameter_count = 17),
                  "at most 16 parameters");
    /* As many as are allowed lie there, and no more. */
    CHECK_REFUSED((request.threshold_kind = QUADTILE_THRESHOLD_GLSL, request.threshold_glsl = "x",
                   request.threshold_parameters = at_end_of_memory(floats, 16 * sizeof *floats),
                   request.threshold_parameter_count = UINT32_MAX),
                  "threshold_parameter_count is 4294967295, but a threshold function has at most "
                  "16 parameters");
    CHECK_REFUSED((request.threshold_kind = QUADTILE_THRESHOLD_GLSL, request.threshold_glsl = ""),
                  "is empty");
    CHECK_REFUSED(request.threshold_value = -1.0f, "negative");
    CHECK_REFUSED(request.threshold_value = special[7], "NaN");

    CHECK_REFUSED(
        (request.threshold_kind = QUADTILE_THRESHOLD_PER_LEVEL, request.threshold_level_count = 7),
        "threshold_levels is NULL");
    CHECK_REFUSED((request.threshold_kind = QUADTILE_THRESHOLD_PER_LEVEL,
                   request.threshold_levels = floats, request.threshold_level_count = 6),
                  "threshold_level_count is 6, but a map of this size has 7 levels");
    CHECK_REFUSED((request.threshold_kind = QUADTILE_THRESHOLD_PER_LEVEL,
                   request.threshold_levels = negative, request.threshold_level_count = 7),
                  "level 6");

    CHECK_REFUSED(request.threshold_kind = QUADTILE_THRESHOLD_MEMORY, "fragments is NULL");
    CHECK_REFUSED((request.threshold_kind = QUADTILE_THRESHOLD_MEMORY, request.fragments = floats,
                   request.fragments_format = 100),
                  "fragments_format is 100");
    CHECK_REFUSED((request.threshold_kind = QUADTILE_THRESHOLD_MEMORY, request.fragments = special),
                  "fragments");
    CHECK_REFUSED((request.threshold_kind = QUADTILE_THRESHOLD_MEMORY, request.fragments = floats,
                   request.nodes = -1.0f),
                  "nodes");
#undef CHECK_REFUSED
    /* A request of another library, which has nothing behind its first member. */
    request = small_request();
    request.struct_size = sizeof request.struct_size;
    const quadtile_request* short_request =
        at_end_of_memory(&request.struct_size, sizeof request.struct_size);
    CHECK_INVALID(quadtile_service_submit(service, short_request, &ticket), "struct_size is 8");
    CHECK_INVALID(quadtile_service_try_submit(service, short_request, &ticket), "struct_size is 8");
    CHECK_INVALID(quadtile_request_init(&request, sizeof request - 1), "quadtile_request has");
    quadtile_service_destroy(service);
}

static void bad_options_are_refused(void) {
    quadtile_service* service = (quadtile_service*)&failures;
    quadtile_service_options options;
#define CHECK_REFUSED(change, status, words)                                 \
    options = default_options();                                             \
    change;                                                                  \
    CHECK_FAILS(quadtile_service_create(&options, &service), status, words); \
    CHECK(service == NULL)

    CHECK_REFUSED(options.struct_size = 0, QUADTILE_ERROR_INVALID_ARGUMENT, "struct_size is 0");
    CHECK_REFUSED(options.strategy = 4, QUADTILE_ERROR_INVALID_ARGUMENT, "strategy is 4");
    CHECK_REFUSED(options.strategy = -1, QUADTILE_ERROR_INVALID_ARGUMENT, "QUADTILE_STRATEGY_*");
    CHECK_REFUSED(options.lanes = 0, QUADTILE_ERROR_INVALID_ARGUMENT, "lanes");
    CHECK_REFUSED(options.max_batch_layers = 0, QUADTILE_ERROR_INVALID_ARGUMENT,
                  "max_batch_layers");
    CHECK_REFUSED(options.queue_capacity = 0, QUADTILE_ERROR_INVALID_ARGUMENT, "queue_capacity");
    CHECK_REFUSED((options.strategy = QUADTILE_STRATEGY_SUBTREE, options.subtree_levels = 9),
                  QUADTILE_ERROR_INVALID_ARGUMENT, "9");
    CHECK_REFUSED(options.device = "no such device", QUADTILE_ERROR_NO_DEVICE, "no such device");
#undef CHECK_REFUSED
    /* Options of another library, which have nothing behind their first member. */
    options.struct_size = sizeof options.struct_size;
    const quadtile_service_options* short_options =
        at_end_of_memory(&options.struct_size, sizeof options.struct_size);
    CHECK_INVALID(quadtile_service_create(short_options, &service), "struct_size is 8");
    CHECK(service == NULL);
    CHECK_INVALID(quadtile_service_options_init(&options, 8), "quadtile_service_options has");
}

static void* fail_elsewhere(void* is_right) {
    const int was_empty = quadtile_last_error()[0] == '\0';
    (void)quadtile_ticket_cancel(NULL);
    *(int*)is_right = was_empty && strcmp(quadtile_last_error(), "ticket is NULL") == 0;
    return NULL;
}

static void errors_are_of_their_thread(void) {
    pthread_t thread;
    int is_right = 0;
    CHECK_INVALID(quadtile_enumerate_devices(NULL), "list is NULL");
    CHECK(pthread_create(&thread, NULL, fail_elsewhere, &is_right) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(is_right);
    CHECK(strcmp(quadtile_last_error(), "list is NULL") == 0);
}

/* Each allocation of a request's way fails in turn: it ends in a status, and the service goes on.
 */
static void host_memory_may_run_out(void) {
    quadtile_service* service = make_service(default_options());
    const float levels[] = {0.9f, 0.9f, 0.9f, 0.9f, 0.9f, 0.9f, 0.9f};
    quadtile_request request = small_request();
    request.copy_texels = 1;
    request.deadline_ms = 600000;
    request.threshold_kind = QUADTILE_THRESHOLD_PER_LEVEL;
    request.threshold_levels = levels;
    request.threshold_level_count = 7;
    int refused = 0;
    quadtile_status status = QUADTILE_ERROR_OUT_OF_MEMORY;
    for (long number = 1; status != QUADTILE_SUCCESS && number < 1000; ++number) {
        quadtile_ticket* ticket = NULL;
        fail_allocation(number);
        status = quadtile_service_submit(service, &request, &ticket);
        fail_allocation(0);
        if (status == QUADTILE_SUCCESS) {
            quadtile_tile_list_free(take_checked(ticket, &request, __LINE__));
        } else {
            CHECK_FAILS(status, QUADTILE_ERROR_OUT_OF_MEMORY, "host memory");
            CHECK(ticket == NULL);
            ++refused;
        }
    }
    CHECK(status == QUADTILE_SUCCESS && refused > 5);

    quadtile_ticket* ticket = submit(service, request);
    const quadtile_tile_list* list = NULL;
    CHECK(quadtile_ticket_wait(ticket, QUADTILE_NO_TIMEOUT) == QUADTILE_SUCCESS);
    fail_allocation(1);
    CHECK_FAILS(quadtile_ticket_take(ticket, &list), QUADTILE_ERROR_OUT_OF_MEMORY, "host memory");
    fail_allocation(0);
    quadtile_tile_list_free(take_checked(ticket, &request, __LINE__));
    quadtile_service_destroy(service);
}

int main(void) {
    fill_maps();
    lists_are_those_of_the_reference();
    thresholds_are_compiled_from_glsl();
    lists_say_how_they_came_about();
    a_list_outlives_ticket_and_service();
    budgets_are_kept();
    devices_are_described();
    messages_reach_the_log();
    texels_are_copied_on_request();
    a_freed_ticket_that_waits_lets_go_of_the_texels();
    a_freed_ticket_that_runs_lets_go_of_the_texels();
    tickets_are_waited_for();
    higher_priorities_come_first();
    waiting_requests_can_be_cancelled();
    deadlines_pass();
    a_full_queue_refuses();
    the_memory_limit_is_kept();
    what_only_the_device_knows_is_answered();
    null_is_refused();
    bad_requests_are_refused();
    bad_options_are_refused();
    errors_are_of_their_thread();
    host_memory_may_run_out();
    CHECK(validation_messages == 0);
    printf("%d failures\n", failures);
    return failures == 0 ? 0 : 1;
}

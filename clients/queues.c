/* queues: three queues in a ring of producers and consumers, every frame's result checked by the CPU.
 *
 * A frame's numbers go from the CPU to the compute queue, which hashes them, to the copy queue, which makes a texture
 * of them, to the graphics queue, which adds a colour to every texel and writes the result for the CPU. Events tell
 * each queue when it may go on; consumers are always submitted before their producers, and the CPU's own signal,
 * which sets a frame off, comes last. A slot of the ring is used again behind the sync of the frame before in it. The
 * window shows the newest result that was checked. A result with one wrong byte ends the program with code 1.
 *
 * Window origin lower left, depth near is minus w, two window textures.
 */
#include <string.h>

#include "common/guest.h"

GUEST_SHADER(int_hash_mix);
GUEST_SHADER(aux_vs_v0);
GUEST_SHADER(aux_fs_f1);

enum {
    FRAMES = 5000,
    RING = 4,     /* frames on their way: inputs, hashes and results */
    TEXTURES = 2, /* frames that may be in textures at once; fewer than the ring, so that queues wait for queues */
    ITEMS = 256,  /* of the program: four words in, eight out */
    INPUT = ITEMS * 16,
    OUTPUT = ITEMS * 32,
    WIDTH = 64,
    HEIGHT = 32, /* texels of four bytes that hold the output */
    COLUMNS = 8,
    ROWS = 4, /* cells of the picture */
    COMMAND_SIZE = 16384,
    CONTROL_SIZE = 4096,
};
/* Where counting events begin, so that they go past 2^32 early on. */
#define COUNT_FROM 0xFFFFFFC0u
#define PATIENCE_NS (60ull * 1000 * 1000 * 1000)

typedef struct Vertex {
    float position[4], color[4];
} Vertex;

typedef enum Stage { COMPUTE, COPY, GRAPHICS, STAGES } Stage;

static Guest guest;
static NVNqueue compute_queue, copy_queue;
static GuestHeap command_heap;
static NVNprogram hash_program, add_program;
static NVNvertexAttribState attributes[2];
static NVNvertexStreamState stream;
static NVNtexture staged[TEXTURES], target[TEXTURES];
static NVNevent copied, drawn; /* count frames, from COUNT_FROM */

static struct Slot {
    GuestSpan input, hashed, result, vertices;
    NVNevent ready;  /* the CPU has written the input of frame n: n + 1 */
    NVNevent hashes; /* the compute queue has written the hashes of frame n: n + 1 */
    NVNsync done;
    struct {
        NVNcommandBuffer commands;
        GuestSpan command_memory;
        uint64_t control_memory[CONTROL_SIZE / 8];
    } stage[STAGES];
} slots[RING];

static void make_queue(NVNqueue* queue)
{
    NVNqueueBuilder builder;
    nvnQueueBuilderSetDefaults(&builder);
    nvnQueueBuilderSetDevice(&builder, &guest.device);
    guest_check(nvnQueueInitialize(queue, &builder));
}

static void make_event(NVNevent* event, uint32_t value)
{
    GuestSpan word = guest_alloc(&guest.data, 4, 64);
    memcpy(word.cpu, &value, 4);
    NVNeventBuilder builder;
    nvnEventBuilderSetDefaults(&builder);
    nvnEventBuilderSetStorage(&builder, &guest.data.pool, word.offset);
    guest_check(nvnEventInitialize(event, &builder));
    if (nvnEventGetValue(event) != value)
        guest_fail("a new event holds %u instead of %u", nvnEventGetValue(event), value);
}

static void make_texture(NVNtexture* texture, GuestHeap* heap)
{
    NVNtextureBuilder builder;
    nvnTextureBuilderSetDefaults(&builder);
    nvnTextureBuilderSetDevice(&builder, &guest.device);
    nvnTextureBuilderSetTarget(&builder, NVN_TEXTURE_TARGET_2D);
    nvnTextureBuilderSetFormat(&builder, NVN_FORMAT_RGBA8);
    nvnTextureBuilderSetSize2D(&builder, WIDTH, HEIGHT);
    GuestSpan storage = guest_alloc(heap, nvnTextureBuilderGetStorageSize(&builder),
                                    nvnTextureBuilderGetStorageAlignment(&builder));
    nvnTextureBuilderSetStorage(&builder, &heap->pool, storage.offset);
    guest_check(nvnTextureInitialize(texture, &builder));
}

/* ---- What a frame computes, once more on the CPU ---- */

static uint32_t input_word(int frame, int i)
{
    return guest_hash((uint32_t)frame, (uint32_t)i);
}

/* The colour that frame `frame` adds, of 255. */
static int added(int frame, int channel)
{
    return (int)(guest_hash((uint32_t)frame, 77u + (uint32_t)channel) % 200);
}

/* What int_hash_mix writes for one item. */
static void hash_item(const uint32_t in[4], uint32_t out[8])
{
    uint32_t h = in[0], g = in[1], r = in[2];
    h ^= h >> 15;
    h *= 0x2C1B3C6Du;
    h ^= h >> 12;
    h *= 0x297A2D39u;
    h ^= h >> 15;
    g = (g ^ 61u) ^ (g >> 16);
    g += g << 3;
    g ^= g >> 4;
    g *= 0x27D4EB2Du;
    g ^= g >> 15;
    r ^= r << 13;
    r ^= r >> 17;
    r ^= r << 5;
    const uint32_t words[8] = {h, g, h ^ g, h + g, r, r ^ h, (r * h) >> 7, in[3] ^ (g << 1)};
    memcpy(out, words, sizeof(words));
}

/* Ends the program unless the slot holds what frame `frame` must give. */
static void check(int frame, const uint8_t* result)
{
    for (int item = 0; item < ITEMS; ++item) {
        uint32_t in[4], out[8];
        uint8_t bytes[32];
        for (int k = 0; k < 4; ++k)
            in[k] = input_word(frame, item * 4 + k);
        hash_item(in, out);
        memcpy(bytes, out, sizeof(bytes));
        for (int k = 0; k < 32; ++k) {
            int sum = bytes[k] + added(frame, k % 4);
            int expected = sum > 255 ? 255 : sum, got = result[item * 32 + k];
            if (got != expected)
                guest_fail("frame %d: byte %d of item %d is %d instead of %d (hash %d, added %d)", frame, k, item, got,
                           expected, bytes[k], added(frame, k % 4));
        }
    }
}

/* ---- Commands ---- */

static NVNcommandBuffer* begin(struct Slot* slot, Stage stage)
{
    NVNcommandBuffer* commands = &slot->stage[stage].commands;
    nvnCommandBufferAddCommandMemory(commands, &command_heap.pool, slot->stage[stage].command_memory.offset,
                                     COMMAND_SIZE);
    nvnCommandBufferAddControlMemory(commands, slot->stage[stage].control_memory, CONTROL_SIZE);
    nvnCommandBufferBeginRecording(commands);
    return commands;
}

static void end(NVNqueue* queue, NVNcommandBuffer* commands)
{
    NVNcommandHandle handle = nvnCommandBufferEndRecording(commands);
    if (handle == 0)
        guest_fail("nothing was recorded");
    nvnQueueSubmitCommands(queue, 1, &handle);
}

static void signal(NVNcommandBuffer* commands, const NVNevent* event, NVNeventSignalMode mode, uint32_t value)
{
    nvnCommandBufferSignalEvent(commands, event, mode, NVN_EVENT_SIGNAL_LOCATION_BOTTOM, 0, value);
}

static void submit_graphics(struct Slot* slot, int frame)
{
    const NVNcopyRegion all = {0, 0, 0, WIDTH, HEIGHT, 1};
    const int barrier = NVN_BARRIER_ORDER_PRIMITIVES_BIT | NVN_BARRIER_INVALIDATE_TEXTURE_BIT;
    const NVNtexture* color = &target[frame % TEXTURES];
    NVNcommandBuffer* commands = begin(slot, GRAPHICS);
    nvnCommandBufferWaitEvent(commands, &copied, NVN_EVENT_WAIT_MODE_GEQUAL_WRAP, COUNT_FROM + (uint32_t)frame + 1);
    nvnCommandBufferCopyTextureToTexture(commands, &staged[frame % TEXTURES], NULL, &all, color, NULL, &all, 0);
    nvnCommandBufferBarrier(commands, barrier);
    nvnCommandBufferSetRenderTargets(commands, 1, &color, NULL, NULL, NULL);
    nvnCommandBufferSetViewport(commands, 0, 0, WIDTH, HEIGHT);
    nvnCommandBufferSetScissor(commands, 0, 0, WIDTH, HEIGHT);
    nvnCommandBufferSetDepthRange(commands, 0.0f, 1.0f);
    nvnCommandBufferSetSampleMask(commands, ~0);
    guest_states(commands, GUEST_ADD, NVN_FACE_NONE, NVN_FALSE, NVN_FALSE);
    nvnCommandBufferBindProgram(commands, &add_program, NVN_SHADER_STAGE_ALL_GRAPHICS_BITS);
    nvnCommandBufferBindVertexAttribState(commands, 2, attributes);
    nvnCommandBufferBindVertexStreamState(commands, 1, &stream);
    nvnCommandBufferBindVertexBuffer(commands, 0, slot->vertices.gpu, slot->vertices.size);
    nvnCommandBufferDrawArrays(commands, NVN_DRAW_PRIMITIVE_TRIANGLES, 0, 3);
    nvnCommandBufferBarrier(commands, barrier);
    nvnCommandBufferCopyTextureToBuffer(commands, color, NULL, &all, slot->result.gpu, 0);
    signal(commands, &drawn, NVN_EVENT_SIGNAL_MODE_ADD, 1);
    /* A sync can be fenced by a command or by the queue. */
    if (frame % 2 == 0)
        nvnCommandBufferFenceSync(commands, &slot->done, NVN_SYNC_CONDITION_ALL_GPU_COMMANDS_COMPLETE,
                                  NVN_SYNC_FLAG_FLUSH_FOR_CPU_BIT);
    end(&guest.queue, commands);
    if (frame % 2 != 0)
        nvnQueueFenceSync(&guest.queue, &slot->done, NVN_SYNC_CONDITION_ALL_GPU_COMMANDS_COMPLETE,
                          NVN_SYNC_FLAG_FLUSH_FOR_CPU_BIT);
}

static void submit_copy(struct Slot* slot, int frame)
{
    const NVNcopyRegion all = {0, 0, 0, WIDTH, HEIGHT, 1};
    NVNcommandBuffer* commands = begin(slot, COPY);
    nvnCommandBufferWaitEvent(commands, &slot->hashes, NVN_EVENT_WAIT_MODE_EQUAL, (uint32_t)frame + 1);
    /* The texture is free once the frame that was in it last has been drawn. */
    nvnCommandBufferWaitEvent(commands, &drawn, NVN_EVENT_WAIT_MODE_GEQUAL_WRAP,
                              COUNT_FROM + (uint32_t)frame + 1 - TEXTURES);
    nvnCommandBufferCopyBufferToTexture(commands, slot->hashed.gpu, &staged[frame % TEXTURES], NULL, &all, 0);
    signal(commands, &copied, NVN_EVENT_SIGNAL_MODE_ADD, 1);
    end(&copy_queue, commands);
}

static void submit_compute(struct Slot* slot, int frame)
{
    /* On the GPU: what the slot's last frame read must have been read. The CPU's wait is for itself. */
    guest_check(nvnQueueWaitSync(&compute_queue, &slot->done));
    NVNcommandBuffer* commands = begin(slot, COMPUTE);
    nvnCommandBufferWaitEvent(commands, &slot->ready, NVN_EVENT_WAIT_MODE_GEQUAL_WRAP, (uint32_t)frame + 1);
    nvnCommandBufferBindProgram(commands, &hash_program, NVN_SHADER_STAGE_COMPUTE_BIT);
    nvnCommandBufferBindStorageBuffer(commands, NVN_SHADER_STAGE_COMPUTE, 0, slot->input.gpu, INPUT);
    nvnCommandBufferBindStorageBuffer(commands, NVN_SHADER_STAGE_COMPUTE, 1, slot->hashed.gpu, OUTPUT);
    nvnCommandBufferDispatchCompute(commands, ITEMS / 64, 1, 1);
    signal(commands, &slot->hashes, NVN_EVENT_SIGNAL_MODE_WRITE, (uint32_t)frame + 1);
    end(&compute_queue, commands);
}

static void submit(int frame)
{
    struct Slot* slot = &slots[frame % RING];
    /* Before its own fence: a sync that is waited for is the one of the frame before in the slot. */
    submit_compute(slot, frame);
    submit_graphics(slot, frame);
    submit_copy(slot, frame);

    Vertex* vertices = (Vertex*)(void*)slot->vertices.cpu;
    for (int i = 0; i < 3; ++i) {
        Vertex vertex = {{i == 1 ? 3.0f : -1.0f, i == 2 ? 3.0f : -1.0f, 0, 1}, {0, 0, 0, 0}};
        for (int c = 0; c < 4; ++c)
            vertex.color[c] = (float)added(frame, c) / 255.0f;
        memcpy(&vertices[i], &vertex, sizeof(vertex));
    }
    uint32_t* input = (uint32_t*)(void*)slot->input.cpu;
    for (int i = 0; i < ITEMS * 4; ++i)
        input[i] = input_word(frame, i);
    nvnEventSignal(&slot->ready, NVN_EVENT_SIGNAL_MODE_WRITE, (uint32_t)frame + 1);
}

/* Waits for a frame and checks it; its result. */
static const uint8_t* finish(int frame)
{
    struct Slot* slot = &slots[frame % RING];
    NVNsyncWaitResult result = nvnSyncWait(&slot->done, PATIENCE_NS);
    if (result != NVN_SYNC_WAIT_RESULT_ALREADY_SIGNALED && result != NVN_SYNC_WAIT_RESULT_CONDITION_SATISFIED)
        guest_fail("frame %d: waiting for it gave %d", frame, (int)result);
    /* What a signal stands for is there when its fence is reached. */
    int32_t ahead = (int32_t)(nvnEventGetValue(&drawn) - (COUNT_FROM + (uint32_t)frame + 1));
    if (ahead < 0)
        guest_fail("frame %d: its sync is signalled, its event lacks %d", frame, -ahead);
    check(frame, slot->result.cpu);
    return slot->result.cpu;
}

/* Shows texels of a result as cells. */
static void show(NVNcommandBuffer* commands, const uint8_t* result)
{
    const float dark[4] = {0.02f, 0.02f, 0.03f, 1};
    nvnCommandBufferClearColor(commands, 0, dark, NVN_CLEAR_COLOR_MASK_RGBA);
    if (result == NULL)
        return;
    int width = guest.width / COLUMNS, height = guest.height / ROWS;
    nvnCommandBufferBarrier(commands, NVN_BARRIER_ORDER_PRIMITIVES_BIT);
    for (int i = 0; i < COLUMNS * ROWS; ++i) {
        const NVNcopyRegion cell = {i % COLUMNS * width, i / COLUMNS * height, 0, width - 2, height - 2, 1};
        float color[4] = {0, 0, 0, 1};
        for (int c = 0; c < 3; ++c)
            color[c] = (float)result[i * 64 + c] / 255.0f;
        nvnCommandBufferClearTexture(commands, &guest.color[guest.current], NULL, &cell, color,
                                     NVN_CLEAR_COLOR_MASK_RGBA);
    }
}

static void make_all(void)
{
    make_queue(&compute_queue);
    make_queue(&copy_queue);
    guest_program(&guest, &hash_program, 1, &guest_shader_int_hash_mix);
    const GuestShader stages[] = {guest_shader_aux_vs_v0, guest_shader_aux_fs_f1};
    guest_program(&guest, &add_program, 2, stages);

    for (int i = 0; i < 2; ++i)
        nvnVertexAttribStateSetDefaults(&attributes[i]);
    nvnVertexAttribStateSetFormat(&attributes[0], NVN_FORMAT_RGBA32F, offsetof(Vertex, position));
    nvnVertexAttribStateSetFormat(&attributes[1], NVN_FORMAT_RGBA32F, offsetof(Vertex, color));
    nvnVertexStreamStateSetDefaults(&stream);
    nvnVertexStreamStateSetStride(&stream, sizeof(Vertex));

    guest_heap(&command_heap, &guest.device, RING * STAGES * COMMAND_SIZE,
               NVN_MEMORY_POOL_FLAGS_CPU_UNCACHED | NVN_MEMORY_POOL_FLAGS_GPU_CACHED);
    make_event(&copied, COUNT_FROM);
    make_event(&drawn, COUNT_FROM);
    for (int i = 0; i < TEXTURES; ++i) {
        make_texture(&staged[i], &guest.data);
        make_texture(&target[i], &guest.data);
    }
    for (int i = 0; i < RING; ++i) {
        struct Slot* slot = &slots[i];
        slot->input = guest_alloc(&guest.data, INPUT, 256);
        slot->hashed = guest_alloc(&guest.data, OUTPUT, 256);
        slot->result = guest_alloc(&guest.data, OUTPUT, 256);
        slot->vertices = guest_alloc(&guest.data, 3 * sizeof(Vertex), 256);
        make_event(&slot->ready, 0);
        make_event(&slot->hashes, 0);
        guest_check(nvnSyncInitialize(&slot->done, &guest.device));
        for (int stage = 0; stage < STAGES; ++stage) {
            guest_check(nvnCommandBufferInitialize(&slot->stage[stage].commands, &guest.device));
            slot->stage[stage].command_memory = guest_alloc(&command_heap, COMMAND_SIZE, 4096);
        }
    }
}

int main(int argc, char** argv)
{
    const GuestOptions options = {NVN_WINDOW_ORIGIN_MODE_LOWER_LEFT, NVN_DEPTH_MODE_NEAR_IS_MINUS_W, 2, NVN_FALSE,
                                  FRAMES, 1 << 20, 64 << 10};
    guest_start(&guest, argc, argv, &options);
    make_all();

    int checked = 0;
    for (int frame = 0; frame < guest.frames; ++frame) {
        submit(frame);
        const uint8_t* newest = NULL;
        if (frame >= RING - 1)
            newest = finish(checked++);
        /* The picture goes to the graphics queue, behind frames that it may still be waiting for. */
        show(guest_begin(&guest, frame), newest);
        guest_end(&guest);
    }
    while (checked < guest.frames)
        finish(checked++);
    nvnQueueFinish(&compute_queue);
    nvnQueueFinish(&copy_queue);
    nvnQueueFinish(&guest.queue);
    if (nvnEventGetValue(&copied) != COUNT_FROM + (uint32_t)guest.frames)
        guest_fail("%u frames were copied instead of %d", nvnEventGetValue(&copied) - COUNT_FROM, guest.frames);

    for (int i = 0; i < RING; ++i) {
        for (int stage = 0; stage < STAGES; ++stage)
            nvnCommandBufferFinalize(&slots[i].stage[stage].commands);
        nvnSyncFinalize(&slots[i].done);
        nvnEventFinalize(&slots[i].ready);
        nvnEventFinalize(&slots[i].hashes);
    }
    nvnEventFinalize(&copied);
    nvnEventFinalize(&drawn);
    for (int i = 0; i < TEXTURES; ++i) {
        nvnTextureFinalize(&staged[i]);
        nvnTextureFinalize(&target[i]);
    }
    nvnProgramFinalize(&hash_program);
    nvnProgramFinalize(&add_program);
    nvnQueueFinalize(&compute_queue);
    nvnQueueFinalize(&copy_queue);
    guest_heap_end(&command_heap);
    guest_end_all(&guest);
    return 0;
}

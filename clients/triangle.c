/* triangle: one triangle that turns, the least that a program for NVN does.
 *
 * It takes every function from the loader, as programs for the console do: nvnBootstrapLoader gives
 * nvnDeviceGetProcAddress, which gives the rest. Vertices are written by the CPU each frame; window origin and
 * depth mode are the defaults (lower left, near is minus w).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/guest.h"

GUEST_SHADER(aux_vs_v0);
GUEST_SHADER(aux_fs_f1);

/* Every function used: its name and that of its pointer type. */
#define FUNCTIONS(X)                                                                 \
    X(DeviceBuilderSetDefaults, DEVICEBUILDERSETDEFAULTS)                            \
    X(DeviceBuilderSetFlags, DEVICEBUILDERSETFLAGS)                                  \
    X(DeviceInitialize, DEVICEINITIALIZE)                                            \
    X(DeviceFinalize, DEVICEFINALIZE)                                                \
    X(DeviceGetInteger, DEVICEGETINTEGER)                                            \
    X(QueueBuilderSetDevice, QUEUEBUILDERSETDEVICE)                                  \
    X(QueueBuilderSetDefaults, QUEUEBUILDERSETDEFAULTS)                              \
    X(QueueInitialize, QUEUEINITIALIZE)                                              \
    X(QueueFinalize, QUEUEFINALIZE)                                                  \
    X(QueueSubmitCommands, QUEUESUBMITCOMMANDS)                                      \
    X(QueueWaitSync, QUEUEWAITSYNC)                                                  \
    X(QueueFenceSync, QUEUEFENCESYNC)                                                \
    X(QueuePresentTexture, QUEUEPRESENTTEXTURE)                                      \
    X(QueueFinish, QUEUEFINISH)                                                      \
    X(MemoryPoolBuilderSetDevice, MEMORYPOOLBUILDERSETDEVICE)                        \
    X(MemoryPoolBuilderSetDefaults, MEMORYPOOLBUILDERSETDEFAULTS)                    \
    X(MemoryPoolBuilderSetFlags, MEMORYPOOLBUILDERSETFLAGS)                          \
    X(MemoryPoolBuilderSetStorage, MEMORYPOOLBUILDERSETSTORAGE)                      \
    X(MemoryPoolInitialize, MEMORYPOOLINITIALIZE)                                    \
    X(MemoryPoolFinalize, MEMORYPOOLFINALIZE)                                        \
    X(BufferBuilderSetDevice, BUFFERBUILDERSETDEVICE)                                \
    X(BufferBuilderSetDefaults, BUFFERBUILDERSETDEFAULTS)                            \
    X(BufferBuilderSetStorage, BUFFERBUILDERSETSTORAGE)                              \
    X(BufferInitialize, BUFFERINITIALIZE)                                            \
    X(BufferFinalize, BUFFERFINALIZE)                                                \
    X(BufferGetAddress, BUFFERGETADDRESS)                                            \
    X(BufferMap, BUFFERMAP)                                                          \
    X(TextureBuilderSetDevice, TEXTUREBUILDERSETDEVICE)                              \
    X(TextureBuilderSetDefaults, TEXTUREBUILDERSETDEFAULTS)                          \
    X(TextureBuilderSetTarget, TEXTUREBUILDERSETTARGET)                              \
    X(TextureBuilderSetFormat, TEXTUREBUILDERSETFORMAT)                              \
    X(TextureBuilderSetFlags, TEXTUREBUILDERSETFLAGS)                                \
    X(TextureBuilderSetSize2D, TEXTUREBUILDERSETSIZE2D)                              \
    X(TextureBuilderSetStorage, TEXTUREBUILDERSETSTORAGE)                            \
    X(TextureBuilderGetStorageSize, TEXTUREBUILDERGETSTORAGESIZE)                    \
    X(TextureBuilderGetStorageAlignment, TEXTUREBUILDERGETSTORAGEALIGNMENT)          \
    X(TextureInitialize, TEXTUREINITIALIZE)                                          \
    X(TextureFinalize, TEXTUREFINALIZE)                                              \
    X(WindowBuilderSetDevice, WINDOWBUILDERSETDEVICE)                                \
    X(WindowBuilderSetDefaults, WINDOWBUILDERSETDEFAULTS)                            \
    X(WindowBuilderSetNativeWindow, WINDOWBUILDERSETNATIVEWINDOW)                    \
    X(WindowBuilderSetTextures, WINDOWBUILDERSETTEXTURES)                            \
    X(WindowInitialize, WINDOWINITIALIZE)                                            \
    X(WindowFinalize, WINDOWFINALIZE)                                                \
    X(WindowAcquireTexture, WINDOWACQUIRETEXTURE)                                    \
    X(SyncInitialize, SYNCINITIALIZE)                                                \
    X(SyncFinalize, SYNCFINALIZE)                                                    \
    X(SyncWait, SYNCWAIT)                                                            \
    X(ProgramInitialize, PROGRAMINITIALIZE)                                          \
    X(ProgramFinalize, PROGRAMFINALIZE)                                              \
    X(ProgramSetShaders, PROGRAMSETSHADERS)                                          \
    X(BlendStateSetDefaults, BLENDSTATESETDEFAULTS)                                  \
    X(ColorStateSetDefaults, COLORSTATESETDEFAULTS)                                  \
    X(ChannelMaskStateSetDefaults, CHANNELMASKSTATESETDEFAULTS)                      \
    X(DepthStencilStateSetDefaults, DEPTHSTENCILSTATESETDEFAULTS)                    \
    X(DepthStencilStateSetDepthTestEnable, DEPTHSTENCILSTATESETDEPTHTESTENABLE)      \
    X(DepthStencilStateSetDepthWriteEnable, DEPTHSTENCILSTATESETDEPTHWRITEENABLE)    \
    X(MultisampleStateSetDefaults, MULTISAMPLESTATESETDEFAULTS)                      \
    X(PolygonStateSetDefaults, POLYGONSTATESETDEFAULTS)                              \
    X(PolygonStateSetCullFace, POLYGONSTATESETCULLFACE)                              \
    X(VertexAttribStateSetDefaults, VERTEXATTRIBSTATESETDEFAULTS)                    \
    X(VertexAttribStateSetFormat, VERTEXATTRIBSTATESETFORMAT)                        \
    X(VertexAttribStateSetStreamIndex, VERTEXATTRIBSTATESETSTREAMINDEX)              \
    X(VertexStreamStateSetDefaults, VERTEXSTREAMSTATESETDEFAULTS)                    \
    X(VertexStreamStateSetStride, VERTEXSTREAMSTATESETSTRIDE)                        \
    X(CommandBufferInitialize, COMMANDBUFFERINITIALIZE)                              \
    X(CommandBufferFinalize, COMMANDBUFFERFINALIZE)                                  \
    X(CommandBufferAddCommandMemory, COMMANDBUFFERADDCOMMANDMEMORY)                  \
    X(CommandBufferAddControlMemory, COMMANDBUFFERADDCONTROLMEMORY)                  \
    X(CommandBufferBeginRecording, COMMANDBUFFERBEGINRECORDING)                      \
    X(CommandBufferEndRecording, COMMANDBUFFERENDRECORDING)                          \
    X(CommandBufferSetRenderTargets, COMMANDBUFFERSETRENDERTARGETS)                  \
    X(CommandBufferSetViewport, COMMANDBUFFERSETVIEWPORT)                            \
    X(CommandBufferSetScissor, COMMANDBUFFERSETSCISSOR)                              \
    X(CommandBufferClearColor, COMMANDBUFFERCLEARCOLOR)                              \
    X(CommandBufferBindBlendState, COMMANDBUFFERBINDBLENDSTATE)                      \
    X(CommandBufferBindColorState, COMMANDBUFFERBINDCOLORSTATE)                      \
    X(CommandBufferBindChannelMaskState, COMMANDBUFFERBINDCHANNELMASKSTATE)          \
    X(CommandBufferBindDepthStencilState, COMMANDBUFFERBINDDEPTHSTENCILSTATE)        \
    X(CommandBufferBindMultisampleState, COMMANDBUFFERBINDMULTISAMPLESTATE)          \
    X(CommandBufferBindPolygonState, COMMANDBUFFERBINDPOLYGONSTATE)                  \
    X(CommandBufferSetSampleMask, COMMANDBUFFERSETSAMPLEMASK)                        \
    X(CommandBufferBindProgram, COMMANDBUFFERBINDPROGRAM)                            \
    X(CommandBufferBindVertexAttribState, COMMANDBUFFERBINDVERTEXATTRIBSTATE)        \
    X(CommandBufferBindVertexStreamState, COMMANDBUFFERBINDVERTEXSTREAMSTATE)        \
    X(CommandBufferBindVertexBuffer, COMMANDBUFFERBINDVERTEXBUFFER)                  \
    X(CommandBufferDrawArrays, COMMANDBUFFERDRAWARRAYS)

/* A table of pointers: nvn.DrawArrays is nvnDrawArrays. */
#define POINTER(name, type) PFNNVN##type##PROC name;
static struct {
    PFNNVNDEVICEGETPROCADDRESSPROC DeviceGetProcAddress;
    FUNCTIONS(POINTER)
} nvn;

static PFNNVNGENERICFUNCPTRPROC load(NVNdevice* device, const char* name)
{
    PFNNVNGENERICFUNCPTRPROC function = nvn.DeviceGetProcAddress(device, name);
    if (function == NULL)
        guest_fail("%s is not there", name);
    return function;
}

/* Before there is a device the loader gives what makes one; afterwards everything is asked for again with it. */
static void load_all(NVNdevice* device)
{
    nvn.DeviceGetProcAddress = (PFNNVNDEVICEGETPROCADDRESSPROC)nvnBootstrapLoader("nvnDeviceGetProcAddress");
    if (nvn.DeviceGetProcAddress == NULL)
        guest_fail("the loader does not know nvnDeviceGetProcAddress");
#define LOAD(name, type) nvn.name = (PFNNVN##type##PROC)load(device, "nvn" #name);
    FUNCTIONS(LOAD)
}

enum { FRAMES = 120, SLOTS = 2, COMMANDS = 65536, CONTROL = 4096 };

typedef struct Vertex {
    float x, y;
    uint8_t color[4];
} Vertex;

static NVNdevice device;

typedef struct Pool {
    NVNmemoryPool pool;
    uint8_t* storage;
} Pool;

static void make_pool(Pool* pool, size_t size, int flags)
{
    size = (size + 4095) / 4096 * 4096;
    pool->storage = aligned_alloc(4096, size);
    if (pool->storage == NULL)
        guest_fail("no memory");
    memset(pool->storage, 0, size);
    NVNmemoryPoolBuilder builder;
    nvn.MemoryPoolBuilderSetDefaults(&builder);
    nvn.MemoryPoolBuilderSetDevice(&builder, &device);
    nvn.MemoryPoolBuilderSetFlags(&builder, flags);
    nvn.MemoryPoolBuilderSetStorage(&builder, pool->storage, size);
    guest_check(nvn.MemoryPoolInitialize(&pool->pool, &builder));
}

static void end_pool(Pool* pool)
{
    nvn.MemoryPoolFinalize(&pool->pool);
    free(pool->storage);
}

static void make_buffer(NVNbuffer* buffer, Pool* pool, ptrdiff_t offset, size_t size)
{
    NVNbufferBuilder builder;
    nvn.BufferBuilderSetDefaults(&builder);
    nvn.BufferBuilderSetDevice(&builder, &device);
    nvn.BufferBuilderSetStorage(&builder, &pool->pool, offset, size);
    guest_check(nvn.BufferInitialize(buffer, &builder));
}

/* The triangle of a frame: red, green and blue corners, turning counterclockwise, once in 240 frames. */
static void write_vertices(Vertex* vertices, int frame, int width, int height)
{
    static const uint8_t colors[3][4] = {{255, 64, 48, 255}, {48, 224, 96, 255}, {64, 96, 255, 255}};
    const float third = 2.0943951f, quarter = 1.5707963f;
    float size = 0.8f, narrow = (float)height / (float)width;
    for (int i = 0; i < 3; ++i) {
        float angle = quarter + third * (float)i + (float)frame * (3.0f * third / 240.0f);
        vertices[i].x = size * cosf(angle) * narrow;
        vertices[i].y = size * sinf(angle);
        memcpy(vertices[i].color, colors[i], 4);
    }
}

static void bind_states(NVNcommandBuffer* commands)
{
    NVNblendState blend;
    NVNcolorState color;
    NVNchannelMaskState mask;
    NVNdepthStencilState depth;
    NVNmultisampleState multisample;
    NVNpolygonState polygon;
    nvn.BlendStateSetDefaults(&blend);
    nvn.ColorStateSetDefaults(&color);
    nvn.ChannelMaskStateSetDefaults(&mask);
    nvn.DepthStencilStateSetDefaults(&depth);
    nvn.DepthStencilStateSetDepthTestEnable(&depth, NVN_FALSE);
    nvn.DepthStencilStateSetDepthWriteEnable(&depth, NVN_FALSE);
    nvn.MultisampleStateSetDefaults(&multisample);
    nvn.PolygonStateSetDefaults(&polygon);
    nvn.PolygonStateSetCullFace(&polygon, NVN_FACE_BACK);
    nvn.CommandBufferBindBlendState(commands, &blend);
    nvn.CommandBufferBindColorState(commands, &color);
    nvn.CommandBufferBindChannelMaskState(commands, &mask);
    nvn.CommandBufferBindDepthStencilState(commands, &depth);
    nvn.CommandBufferBindMultisampleState(commands, &multisample);
    nvn.CommandBufferBindPolygonState(commands, &polygon);
    nvn.CommandBufferSetSampleMask(commands, ~0);

    NVNvertexAttribState attributes[2];
    NVNvertexStreamState stream;
    for (int i = 0; i < 2; ++i) {
        nvn.VertexAttribStateSetDefaults(&attributes[i]);
        nvn.VertexAttribStateSetStreamIndex(&attributes[i], 0);
    }
    nvn.VertexAttribStateSetFormat(&attributes[0], NVN_FORMAT_RG32F, offsetof(Vertex, x));
    nvn.VertexAttribStateSetFormat(&attributes[1], NVN_FORMAT_RGBA8, offsetof(Vertex, color));
    nvn.VertexStreamStateSetDefaults(&stream);
    nvn.VertexStreamStateSetStride(&stream, sizeof(Vertex));
    nvn.CommandBufferBindVertexAttribState(commands, 2, attributes);
    nvn.CommandBufferBindVertexStreamState(commands, 1, &stream);
}

int main(int argc, char** argv)
{
    int frames = guest_frames(argc, argv, FRAMES), width, height;
    guest_size(&width, &height);

    load_all(NULL);
    NVNdeviceBuilder device_builder;
    nvn.DeviceBuilderSetDefaults(&device_builder);
    nvn.DeviceBuilderSetFlags(&device_builder, 0);
    guest_check(nvn.DeviceInitialize(&device, &device_builder));
    load_all(&device);

    NVNqueue queue;
    NVNqueueBuilder queue_builder;
    nvn.QueueBuilderSetDefaults(&queue_builder);
    nvn.QueueBuilderSetDevice(&queue_builder, &device);
    guest_check(nvn.QueueInitialize(&queue, &queue_builder));

    /* The code of both stages, each at a multiple of 256; the pool's last bytes are left for the GPU's prefetch. */
    const GuestShader stages[2] = {guest_shader_aux_vs_v0, guest_shader_aux_fs_f1};
    size_t at[2], size = 0;
    for (int i = 0; i < 2; ++i) {
        at[i] = size;
        size += ((size_t)(stages[i].code_end - stages[i].code) + 255) / 256 * 256;
    }
    int padding = 0;
    nvn.DeviceGetInteger(&device, NVN_DEVICE_INFO_SHADER_CODE_MEMORY_POOL_PADDING_SIZE, &padding);
    const int shared = NVN_MEMORY_POOL_FLAGS_CPU_UNCACHED | NVN_MEMORY_POOL_FLAGS_GPU_CACHED;
    Pool code;
    NVNbuffer code_buffer;
    make_pool(&code, size + padding, shared | NVN_MEMORY_POOL_FLAGS_SHADER_CODE);
    make_buffer(&code_buffer, &code, 0, size);
    NVNshaderData data[2];
    for (int i = 0; i < 2; ++i) {
        memcpy((uint8_t*)nvn.BufferMap(&code_buffer) + at[i], stages[i].code, stages[i].code_end - stages[i].code);
        data[i].data = nvn.BufferGetAddress(&code_buffer) + at[i];
        data[i].control = stages[i].control;
    }
    NVNprogram program;
    guest_check(nvn.ProgramInitialize(&program, &device));
    guest_check(nvn.ProgramSetShaders(&program, 2, data));

    /* Vertices of each slot, 256 bytes apart, and behind them command memory. */
    Pool memory;
    NVNbuffer vertices[SLOTS];
    make_pool(&memory, 4096 + SLOTS * COMMANDS, shared);
    for (int i = 0; i < SLOTS; ++i)
        make_buffer(&vertices[i], &memory, 256 * i, 3 * sizeof(Vertex));

    /* The window: two textures in memory that the CPU does not touch. */
    NVNtextureBuilder builder;
    nvn.TextureBuilderSetDefaults(&builder);
    nvn.TextureBuilderSetDevice(&builder, &device);
    nvn.TextureBuilderSetTarget(&builder, NVN_TEXTURE_TARGET_2D);
    nvn.TextureBuilderSetFormat(&builder, NVN_FORMAT_RGBA8);
    nvn.TextureBuilderSetFlags(&builder, NVN_TEXTURE_FLAGS_DISPLAY | NVN_TEXTURE_FLAGS_COMPRESSIBLE);
    nvn.TextureBuilderSetSize2D(&builder, width, height);
    size_t alignment = nvn.TextureBuilderGetStorageAlignment(&builder);
    size_t stride = (nvn.TextureBuilderGetStorageSize(&builder) + alignment - 1) / alignment * alignment;
    Pool target;
    make_pool(&target, SLOTS * stride,
              NVN_MEMORY_POOL_FLAGS_CPU_NO_ACCESS | NVN_MEMORY_POOL_FLAGS_GPU_CACHED |
                  NVN_MEMORY_POOL_FLAGS_COMPRESSIBLE);
    NVNtexture textures[SLOTS];
    NVNtexture* texture_list[SLOTS];
    for (int i = 0; i < SLOTS; ++i) {
        nvn.TextureBuilderSetStorage(&builder, &target.pool, (ptrdiff_t)(i * stride));
        guest_check(nvn.TextureInitialize(&textures[i], &builder));
        texture_list[i] = &textures[i];
    }
    NVNwindow window;
    NVNwindowBuilder window_builder;
    nvn.WindowBuilderSetDefaults(&window_builder);
    nvn.WindowBuilderSetDevice(&window_builder, &device);
    nvn.WindowBuilderSetNativeWindow(&window_builder, NULL);
    nvn.WindowBuilderSetTextures(&window_builder, SLOTS, texture_list);
    guest_check(nvn.WindowInitialize(&window, &window_builder));

    NVNsync acquired, done[SLOTS];
    NVNcommandBuffer commands[SLOTS];
    static uint64_t control[SLOTS][CONTROL / 8];
    guest_check(nvn.SyncInitialize(&acquired, &device));
    for (int i = 0; i < SLOTS; ++i) {
        guest_check(nvn.SyncInitialize(&done[i], &device));
        guest_check(nvn.CommandBufferInitialize(&commands[i], &device));
    }

    for (int frame = 0; frame < frames; ++frame) {
        int slot = frame % SLOTS, index = -1;
        if (frame >= SLOTS) {
            NVNsyncWaitResult result = nvn.SyncWait(&done[slot], UINT64_MAX);
            if (result != NVN_SYNC_WAIT_RESULT_ALREADY_SIGNALED &&
                result != NVN_SYNC_WAIT_RESULT_CONDITION_SATISFIED)
                guest_fail("frame %d: waiting for the frame before the last gave %d", frame, (int)result);
        }
        if (nvn.WindowAcquireTexture(&window, &acquired, &index) != NVN_WINDOW_ACQUIRE_TEXTURE_RESULT_SUCCESS ||
            index < 0 || index >= SLOTS)
            guest_fail("frame %d: no texture to draw into", frame);
        guest_check(nvn.QueueWaitSync(&queue, &acquired));
        write_vertices(nvn.BufferMap(&vertices[slot]), frame, width, height);

        NVNcommandBuffer* buffer = &commands[slot];
        nvn.CommandBufferAddCommandMemory(buffer, &memory.pool, 4096 + slot * COMMANDS, COMMANDS);
        nvn.CommandBufferAddControlMemory(buffer, control[slot], CONTROL);
        nvn.CommandBufferBeginRecording(buffer);
        const NVNtexture* color = &textures[index];
        const float dark[4] = {0.055f, 0.063f, 0.094f, 1.0f};
        nvn.CommandBufferSetRenderTargets(buffer, 1, &color, NULL, NULL, NULL);
        nvn.CommandBufferSetViewport(buffer, 0, 0, width, height);
        nvn.CommandBufferSetScissor(buffer, 0, 0, width, height);
        nvn.CommandBufferClearColor(buffer, 0, dark, NVN_CLEAR_COLOR_MASK_RGBA);
        bind_states(buffer);
        nvn.CommandBufferBindProgram(buffer, &program, NVN_SHADER_STAGE_VERTEX_BIT | NVN_SHADER_STAGE_FRAGMENT_BIT);
        nvn.CommandBufferBindVertexBuffer(buffer, 0, nvn.BufferGetAddress(&vertices[slot]), 3 * sizeof(Vertex));
        nvn.CommandBufferDrawArrays(buffer, NVN_DRAW_PRIMITIVE_TRIANGLES, 0, 3);
        NVNcommandHandle handle = nvn.CommandBufferEndRecording(buffer);
        if (handle == 0)
            guest_fail("frame %d: nothing was recorded", frame);
        nvn.QueueSubmitCommands(&queue, 1, &handle);
        nvn.QueueFenceSync(&queue, &done[slot], NVN_SYNC_CONDITION_ALL_GPU_COMMANDS_COMPLETE, 0);
        nvn.QueuePresentTexture(&queue, &window, index);
    }

    nvn.QueueFinish(&queue);
    for (int i = 0; i < SLOTS; ++i) {
        nvn.CommandBufferFinalize(&commands[i]);
        nvn.SyncFinalize(&done[i]);
        nvn.BufferFinalize(&vertices[i]);
    }
    nvn.SyncFinalize(&acquired);
    nvn.WindowFinalize(&window);
    for (int i = 0; i < SLOTS; ++i)
        nvn.TextureFinalize(&textures[i]);
    nvn.ProgramFinalize(&program);
    nvn.BufferFinalize(&code_buffer);
    end_pool(&target);
    end_pool(&memory);
    end_pool(&code);
    nvn.QueueFinalize(&queue);
    nvn.DeviceFinalize(&device);
    return 0;
}

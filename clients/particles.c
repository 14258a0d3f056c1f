/* particles: fountains of sparks over a ball, moved by a compute program, drawn from the buffer that it wrote.
 *
 * A frame is a few steps of: dispatch, barrier, indirect draws whose vertices are the storage buffer. Sparks are
 * points added to the picture, a point for each pixel of a small disc; the older steps of the frame leave fainter
 * points behind them. Ball and floor are ordinary meshes. Window origin lower left, depth near is minus w,
 * three window textures.
 */
#include <math.h>
#include <string.h>

#include "common/guest.h"

GUEST_SHADER(big_particles);
GUEST_SHADER(vs_transform);
GUEST_SHADER(aux_fs_f1);

enum {
    FRAMES = 300,
    WARM_UP = 120, /* steps before the first frame, so that it is not empty */
    FOUNTAINS = 16,
    PARTICLES = 256, /* of a fountain, as the program has it */
    GROUP = 64,
    STEPS = 4, /* of a frame */
    DISC = 21,
    RINGS = 24,
    SECTORS = 48,
    FLOOR_RINGS = 12,
};

/* The compute program's blocks. */
typedef struct Particle {
    float position[3], life;
    float velocity[3], size;
} Particle;
typedef struct Simulation {
    float gravity[3], dt; /* a step is 0.01 + 0.01 dt, gravity is 4 (gravity - 0.5) */
    float emitter[3], speed;
    float sphere[3], radius; /* the ball's radius is 0.25 more */
    uint32_t seed[4];
} Simulation;
/* vs_transform's block. Colours pass through the upper 3x3 of `world`, positions through all of it. */
typedef struct Camera {
    GuestMatrix view_projection, world;
    float eye[4];
} Camera;
typedef struct Vertex {
    float position[3];
    float color[3];
} Vertex;

static const float ball[3] = {0, -0.2f, 0};
static const float ball_radius = 0.45f;
static const float floor_height = -1.02f; /* a little under the height on which the sparks land */
static Guest guest;

/* ---- Meshes ---- */

static int vertex_count, index_count;

static void add_vertex(Vertex* vertices, float x, float y, float z, float r, float g, float b)
{
    vertices[vertex_count++] = (Vertex){{x, y, z}, {r, g, b}};
}

static void add_grid(uint16_t* indices, int base, int rows, int columns)
{
    for (int i = 0; i < rows * columns; ++i) {
        int a = base + i / columns * (columns + 1) + i % columns, b = a + columns + 1;
        const int corners[6] = {a, b, a + 1, a + 1, b, b + 1};
        for (int k = 0; k < 6; ++k)
            indices[index_count++] = (uint16_t)corners[k];
    }
}

/* The ball, lit from above and behind, and a round floor that fades into the dark. */
static void write_meshes(Vertex* vertices, uint16_t* indices)
{
    const float half_turn = 3.14159265f;
    for (int i = 0; i <= RINGS; ++i) {
        for (int k = 0; k <= SECTORS; ++k) {
            float polar = half_turn * (float)i / RINGS, around = 2 * half_turn * (float)k / SECTORS;
            float n[3] = {sinf(polar) * sinf(around), cosf(polar), sinf(polar) * cosf(around)};
            float top = n[1] > 0 ? n[1] : 0, back = -n[2] > 0 ? -n[2] : 0;
            float lit = 0.05f + 0.2f * top * top + 0.08f * back;
            add_vertex(vertices, ball[0] + ball_radius * n[0], ball[1] + ball_radius * n[1],
                       ball[2] + ball_radius * n[2], lit * 0.8f, lit * 0.85f, lit * 1.1f + 0.02f);
        }
    }
    add_grid(indices, 0, RINGS, SECTORS);
    int base = vertex_count;
    for (int i = 0; i <= FLOOR_RINGS; ++i) {
        for (int k = 0; k <= SECTORS; ++k) {
            float out = (float)i / FLOOR_RINGS, around = 2 * half_turn * (float)k / SECTORS;
            float radius = 2.6f * out, glow = (1 - out) * (1 - out);
            /* The ball's shadow, and a ring where the sparks fall. */
            float shade = radius < 0.45f ? 0.35f : 1.0f;
            add_vertex(vertices, radius * sinf(around), floor_height, radius * cosf(around),
                       (0.012f + 0.28f * glow) * shade, (0.014f + 0.2f * glow) * shade,
                       (0.026f + 0.3f * glow) * shade);
        }
    }
    add_grid(indices, base, FLOOR_RINGS, SECTORS);
}

/* ---- Sparks ---- */

static void write_particles(Particle* particles)
{
    GuestRandom random = {1};
    for (int i = 0; i < FOUNTAINS * PARTICLES; ++i) {
        Particle* p = &particles[i];
        /* Nearly dead at ages spread over the longest life, far above the scene: each is born in its turn. */
        *p = (Particle){{0, 50, 0}, 1.4f * guest_random_unit(&random), {0, 0, 0}, 0.1f};
    }
}

/* Fountain k at step `step`: on a circle above the ball that turns slowly. */
static Simulation simulation(int k, int step)
{
    const float turn = 6.2831853f;
    float around = turn * ((float)k / FOUNTAINS + (float)step / 1600.0f);
    float radius = 0.36f + 0.14f * sinf(turn * ((float)step / 800.0f + (float)k / 4.0f));
    return (Simulation){
        {0.5f, -0.4f, 0.5f}, -0.2f, /* a step of 0.008, gravity 3.6 */
        {radius * sinf(around), 0.85f, radius * cosf(around)}, 0.7f,
        {ball[0], ball[1], ball[2]}, ball_radius - 0.25f,
        {0, 0, 0, 0},
    };
}

/* The matrix that makes colours of (life, velocity x, velocity y), for a fountain of hue `hue`. */
static GuestMatrix color_matrix(float hue, float strength)
{
    const float third = 2.0943951f;
    GuestMatrix matrix = guest_identity();
    for (int c = 0; c < 3; ++c) {
        float wave = 0.5f + 0.5f * cosf(6.2831853f * hue - third * (float)c);
        matrix.m[c] = strength * (0.16f + 0.9f * wave * wave);
        matrix.m[4 + c] = strength * (c == 0 ? 0.16f : c == 1 ? -0.06f : -0.05f);
        matrix.m[8 + c] = strength * (c == 0 ? -0.05f : c == 1 ? -0.08f : 0.18f);
    }
    return matrix;
}

static GuestMatrix inverse3(const GuestMatrix* a)
{
    GuestMatrix inverse = guest_identity();
    float determinant = 0;
    for (int column = 0; column < 3; ++column) {
        for (int row = 0; row < 3; ++row) {
            int r1 = (row + 1) % 3, r2 = (row + 2) % 3, c1 = (column + 1) % 3, c2 = (column + 2) % 3;
            inverse.m[row * 4 + column] =
                a->m[c1 * 4 + r1] * a->m[c2 * 4 + r2] - a->m[c2 * 4 + r1] * a->m[c1 * 4 + r2];
        }
    }
    for (int i = 0; i < 3; ++i)
        determinant += a->m[i * 4] * inverse.m[i];
    for (int i = 0; i < 12; ++i)
        inverse.m[i] /= determinant;
    inverse.m[3] = inverse.m[7] = inverse.m[11] = 0;
    return inverse;
}

/* A spark is 21 pixels, a 5x5 square without its corners, or 9 in a small window. */
static int disc_size(void)
{
    return guest.height < 540 ? 9 : DISC;
}

/* Of one of them x, y and how bright; the middle is first, the inner 9 before the others. */
static void disc_point(int i, float* x, float* y, float* weight)
{
    static const int order[DISC] = {12, 7, 11, 13, 17, 6, 8, 16, 18, 2, 10, 14, 22, 1, 3, 5, 9, 15, 19, 21, 23};
    *x = (float)(order[i] % 5 - 2);
    *y = (float)(order[i] / 5 - 2);
    *weight = expf(-(*x * *x + *y * *y) / (disc_size() < DISC ? 1.0f : 2.4f));
}

static void dispatch(NVNcommandBuffer* commands, GuestSpan pool, GuestSpan stats, GuestSpan simulations, int step)
{
    for (int k = 0; k < FOUNTAINS; ++k) {
        Simulation block = simulation(k, step);
        memcpy(simulations.cpu + k * 256, &block, sizeof(block));
        nvnCommandBufferBindStorageBuffer(commands, NVN_SHADER_STAGE_COMPUTE, 0,
                                          pool.gpu + k * PARTICLES * sizeof(Particle),
                                          PARTICLES * sizeof(Particle));
        nvnCommandBufferBindStorageBuffer(commands, NVN_SHADER_STAGE_COMPUTE, 1, stats.gpu + k * 256, 16);
        nvnCommandBufferBindUniformBuffer(commands, NVN_SHADER_STAGE_COMPUTE, 2, simulations.gpu + k * 256,
                                          sizeof(block));
        nvnCommandBufferDispatchCompute(commands, PARTICLES / GROUP, 1, 1);
    }
}

int main(int argc, char** argv)
{
    const GuestOptions options = {NVN_WINDOW_ORIGIN_MODE_LOWER_LEFT, NVN_DEPTH_MODE_NEAR_IS_MINUS_W, 3, NVN_TRUE,
                                  FRAMES, 8 << 20, 1 << 20};
    guest_start(&guest, argc, argv, &options);

    NVNprogram move, draw;
    const GuestShader draw_stages[] = {guest_shader_vs_transform, guest_shader_aux_fs_f1};
    guest_program(&guest, &move, 1, &guest_shader_big_particles);
    guest_program(&guest, &draw, 2, draw_stages);

    const size_t max_vertices = (RINGS + 1 + FLOOR_RINGS + 1) * (SECTORS + 1);
    const size_t max_indices = (RINGS + FLOOR_RINGS) * SECTORS * 6;
    GuestSpan vertices = guest_alloc(&guest.data, max_vertices * sizeof(Vertex), 256);
    GuestSpan indices = guest_alloc(&guest.data, max_indices * sizeof(uint16_t), 256);
    write_meshes((Vertex*)(void*)vertices.cpu, (uint16_t*)(void*)indices.cpu);
    GuestSpan pool = guest_alloc(&guest.data, FOUNTAINS * PARTICLES * sizeof(Particle), 4096);
    write_particles((Particle*)(void*)pool.cpu);
    GuestSpan stats = guest_alloc(&guest.data, FOUNTAINS * 256, 256);

    GuestSpan indirect = guest_alloc(&guest.data, FOUNTAINS * 256, 256);
    for (int k = 0; k < FOUNTAINS; ++k) {
        NVNdrawArraysIndirectData data = {PARTICLES, 1, (uint32_t)(k * PARTICLES), 0};
        memcpy(indirect.cpu + k * 256, &data, sizeof(data));
    }

    /* For each slot: the fountains' blocks for each step, and cameras for the meshes and each point of the disc. */
    const size_t step_size = FOUNTAINS * 256, cameras_size = (1 + (DISC + STEPS - 1) * FOUNTAINS) * 256;
    GuestSpan blocks[GUEST_FRAMES_IN_FLIGHT], cameras[GUEST_FRAMES_IN_FLIGHT];
    for (int i = 0; i < GUEST_FRAMES_IN_FLIGHT; ++i) {
        blocks[i] = guest_alloc(&guest.data, (STEPS + WARM_UP) * step_size, 256);
        cameras[i] = guest_alloc(&guest.data, cameras_size, 256);
    }

    NVNvertexAttribState mesh_attributes[2], spark_attributes[2];
    NVNvertexStreamState mesh_stream, spark_stream;
    for (int i = 0; i < 2; ++i) {
        nvnVertexAttribStateSetDefaults(&mesh_attributes[i]);
        nvnVertexAttribStateSetDefaults(&spark_attributes[i]);
    }
    nvnVertexAttribStateSetFormat(&mesh_attributes[0], NVN_FORMAT_RGB32F, offsetof(Vertex, position));
    nvnVertexAttribStateSetFormat(&mesh_attributes[1], NVN_FORMAT_RGB32F, offsetof(Vertex, color));
    nvnVertexAttribStateSetFormat(&spark_attributes[0], NVN_FORMAT_RGB32F, offsetof(Particle, position));
    nvnVertexAttribStateSetFormat(&spark_attributes[1], NVN_FORMAT_RGB32F, offsetof(Particle, life));
    nvnVertexStreamStateSetDefaults(&mesh_stream);
    nvnVertexStreamStateSetStride(&mesh_stream, sizeof(Vertex));
    nvnVertexStreamStateSetDefaults(&spark_stream);
    nvnVertexStreamStateSetStride(&spark_stream, sizeof(Particle));

    GuestMatrix lens = guest_perspective(0.36f, (float)guest.width / (float)guest.height, 0.5f, 20.0f, 1);
    int step = 0;
    for (int frame = 0; frame < guest.frames; ++frame) {
        NVNcommandBuffer* commands = guest_begin(&guest, frame);
        int slot = guest_slot(&guest);
        float around = 0.35f + 0.0045f * (float)frame;
        const float eye[3] = {3.6f * sinf(around), 0.9f, 3.6f * cosf(around)}, at[3] = {0, -0.1f, 0};
        GuestMatrix look = guest_look(eye, at);
        GuestMatrix view = guest_multiply(&lens, &look);

        const float backdrop[4] = {0.012f, 0.014f, 0.026f, 1.0f};
        nvnCommandBufferClearColor(commands, 0, backdrop, NVN_CLEAR_COLOR_MASK_RGBA);
        nvnCommandBufferClearDepthStencil(commands, 1.0f, NVN_TRUE, 0, 0);

        /* Ball and floor. */
        size_t camera_at = 0;
        Camera camera = {view, guest_identity(), {0, 0, 0, 0}};
        memcpy(cameras[slot].cpu, &camera, sizeof(camera));
        guest_states(commands, GUEST_OPAQUE, NVN_FACE_BACK, NVN_TRUE, NVN_TRUE);
        nvnCommandBufferBindProgram(commands, &draw, NVN_SHADER_STAGE_ALL_GRAPHICS_BITS);
        nvnCommandBufferBindVertexAttribState(commands, 2, mesh_attributes);
        nvnCommandBufferBindVertexStreamState(commands, 1, &mesh_stream);
        nvnCommandBufferBindVertexBuffer(commands, 0, vertices.gpu, vertices.size);
        nvnCommandBufferBindUniformBuffer(commands, NVN_SHADER_STAGE_VERTEX, 0, cameras[slot].gpu, sizeof(camera));
        nvnCommandBufferDrawElements(commands, NVN_DRAW_PRIMITIVE_TRIANGLES, NVN_INDEX_TYPE_UNSIGNED_SHORT,
                                     index_count, indices.gpu);
        camera_at += 256;

        guest_states(commands, GUEST_ADD, NVN_FACE_NONE, NVN_TRUE, NVN_FALSE);
        nvnCommandBufferBindProgram(commands, &move, NVN_SHADER_STAGE_COMPUTE_BIT);
        nvnCommandBufferBindVertexAttribState(commands, 2, spark_attributes);
        nvnCommandBufferBindVertexStreamState(commands, 1, &spark_stream);
        nvnCommandBufferBindVertexBuffer(commands, 0, pool.gpu, pool.size);

        int steps = frame == 0 ? WARM_UP + STEPS : STEPS;
        for (int i = 0; i < steps; ++i, ++step) {
            /* The step before must be over, and drawn, before this one moves the sparks; then the other way. */
            const int barrier = NVN_BARRIER_ORDER_PRIMITIVES_BIT | NVN_BARRIER_INVALIDATE_SHADER_BIT;
            GuestSpan block = blocks[slot];
            block.cpu += i * step_size;
            block.gpu += i * step_size;
            nvnCommandBufferBarrier(commands, barrier);
            dispatch(commands, pool, stats, block, step);
            nvnCommandBufferBarrier(commands, barrier);
            if (i < steps - STEPS)
                continue;
            int trail = steps - 1 - i;
            for (int k = 0; k < FOUNTAINS; ++k) {
                for (int point = 0; point < (trail > 0 ? 1 : disc_size()); ++point) {
                    float x, y, weight;
                    disc_point(point, &x, &y, &weight);
                    float strength = trail > 0 ? 0.7f - 0.16f * (float)trail : 0.8f * weight;
                    GuestMatrix shift =
                        guest_translation(2 * x / (float)guest.width, 2 * y / (float)guest.height, 0);
                    camera.world = color_matrix((float)k / FOUNTAINS, strength);
                    GuestMatrix back = inverse3(&camera.world);
                    GuestMatrix moved = guest_multiply(&shift, &view);
                    camera.view_projection = guest_multiply(&moved, &back);
                    memcpy(cameras[slot].cpu + camera_at, &camera, sizeof(camera));
                    nvnCommandBufferBindUniformBuffer(commands, NVN_SHADER_STAGE_VERTEX, 0,
                                                      cameras[slot].gpu + camera_at, sizeof(camera));
                    nvnCommandBufferDrawArraysIndirect(commands, NVN_DRAW_PRIMITIVE_POINTS,
                                                       indirect.gpu + k * 256);
                    camera_at += 256;
                }
            }
        }
        guest_end(&guest);
    }

    nvnQueueFinish(&guest.queue);
    /* What the GPU counted must be what was asked of it: every spark once a step. */
    uint64_t moved = 0;
    for (int k = 0; k < FOUNTAINS; ++k) {
        uint32_t counts[4];
        memcpy(counts, stats.cpu + k * 256, sizeof(counts));
        moved += (uint64_t)counts[0] + counts[1];
    }
    if (moved != (uint64_t)step * FOUNTAINS * PARTICLES)
        guest_fail("the GPU counted %llu moves in %d steps of %d sparks", (unsigned long long)moved, step,
                   FOUNTAINS * PARTICLES);
    nvnProgramFinalize(&draw);
    nvnProgramFinalize(&move);
    guest_end_all(&guest);
    return 0;
}

#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require

// Signals events: one word a thread, written or added to (src/encoder/signal.rs). No two threads have the same word.

layout(local_size_x = 64) in;

struct Signal {
    uvec2 to;   // device address
    uint value;
    uint add;   // 1: the value is added to the word
};

layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer Signals { Signal at[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) coherent buffer Word { uint word; };

layout(set = 1, binding = 0, std140) uniform List {
    uvec2 signals;
    uint count;
} list;

void main() {
    if (gl_GlobalInvocationID.x >= list.count) {
        return;
    }
    Signal signal = Signals(list.signals).at[gl_GlobalInvocationID.x];
    Word event = Word(signal.to);
    if (signal.add != 0) {
        atomicAdd(event.word, signal.value);
    } else {
        atomicExchange(event.word, signal.value);
    }
}

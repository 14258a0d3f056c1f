//! Writes `nvn.h`, the header that guest programs in C and C++ include. C99 and C++98 can read it.

use std::fmt::Write as _;

use super::facts::{Enum, Facts, Field, Function, Sort, Struct};
use super::rust::{prototype, split_callback};

/// Begins the file.
const HEAD: &str = r#"/* Generated from facts/ by `cargo xtask gen`. Do not edit.
 *
 * nvn.h: the NVN graphics API as Navin implements it, for guest programs in C and C++.
 *
 * A program allocates every object itself, hands its address to the calls, and never looks inside. It may call
 * the functions below directly (libnvn exports them by name), or fetch pointers: nvnBootstrapLoader(
 * "nvnDeviceGetProcAddress") first, then everything through that. For each function nvnFoo the type of a pointer
 * to it is PFNNVNFOOPROC.
 *
 * Names, values, sizes and prototypes are facts of NVN. Where no source gives one, the comment says that it is
 * Navin's choice.
 */
#ifndef NVN_H
#define NVN_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32) && !defined(NVN_STATIC)
#define NVN_API __declspec(dllimport)
#else
#define NVN_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define NVN_TRUE 1
#define NVN_FALSE 0

/* ---- Scalars ---- */

"#;

/// Ends the file.
const TAIL: &str = r#"
#ifdef __cplusplus
}
#endif

#endif /* NVN_H */
"#;

/// What each group of functions is for, by the `object` column; the order is the order of the header.
const GROUPS: &[(&str, &str)] = &[
    ("", "Loader: turns a function's name into its address, NULL for a name that NVN lacks."),
    ("DeviceBuilder", "Device builder: what to make a device with."),
    ("Device", "Device: limits and modes, handles for texture and sampler ids, timestamps, debug callback."),
    ("QueueBuilder", "Queue builder: sizes of a queue's own memory, flags, priority."),
    ("Queue", "Queue: takes finished recordings, fences and waits for syncs, presents."),
    ("MemoryPoolBuilder", "Memory pool builder: the storage, whole 4 KB pages, and how CPU and GPU reach it."),
    ("MemoryPool", "Memory pool: storage that the GPU can address; everything the GPU reads lies in one."),
    ("BufferBuilder", "Buffer builder: a range of a memory pool."),
    ("Buffer", "Buffer: a range with a GPU address, mapped while its pool is."),
    (
        "TextureBuilder",
        "Texture builder: target, format, extent, levels, flags and storage; answers the storage's size.",
    ),
    ("Texture", "Texture: an image in a memory pool. Texels are read and written here in linear order."),
    ("TextureView", "Texture view: overrides a texture's format, levels, layers, target or swizzle where it is used."),
    ("TexturePool", "Texture pool: the table of texture and image descriptors that handles refer to by id."),
    ("SamplerBuilder", "Sampler builder: filters, wrap modes, levels of detail, comparison, border."),
    ("Sampler", "Sampler: the built state."),
    ("SamplerPool", "Sampler pool: the table of sampler descriptors that handles refer to by id."),
    ("Program", "Program: the stages' GPU code and their control sections."),
    ("BlendState", "Blend state of one colour target."),
    ("ChannelMaskState", "Which channels of each colour target are written."),
    ("ColorState", "Blend enables, logic operation and alpha test."),
    ("DepthStencilState", "Depth and stencil tests."),
    ("MultisampleState", "Multisampling: samples, coverage, sample locations."),
    ("PolygonState", "Culling, facing, polygon mode and offset."),
    ("VertexAttribState", "One vertex attribute: format, offset, stream."),
    ("VertexStreamState", "One vertex stream: stride and divisor."),
    ("EventBuilder", "Event builder: where the event's word lies."),
    ("Event", "Event: a 32-bit word that CPU and queues write and wait for."),
    ("Sync", "Sync: what a queue signals when it reaches a fence."),
    ("WindowBuilder", "Window builder: the native window and the textures it cycles through."),
    ("Window", "Window: hands out its textures for drawing; a queue presents them."),
    ("CommandBuffer", "Command buffer: records commands into memory that the program lends it."),
];

/// The text of `nvn.h`.
pub fn nvn_h(facts: &Facts) -> String {
    let mut out = String::from(HEAD);
    for s in facts.structs.iter().filter(|s| s.sort == Sort::Scalar) {
        let _ = writeln!(out, "{}", declare("typedef ", &s.c_type, &s.name, 1));
    }
    out.push_str("\n/* ---- Enums. Calls take bit masks as int. ---- */\n");
    for e in &facts.enums {
        one_enum(&mut out, e);
    }
    out.push_str("\n/* ---- Objects: as large as any SDK makes them; the content is the driver's. ---- */\n\n");
    for s in facts.structs.iter().filter(|s| s.sort == Sort::Opaque) {
        let (ty, size) = if s.max_size % 8 == 0 { ("uint64_t", 8) } else { ("uint32_t", 4) };
        let _ = writeln!(out, "typedef struct {} {{ {ty} reserved[{}]; }} {};", s.name, s.max_size / size, s.name);
    }
    out.push_str("\n/* ---- Structs that the program fills or reads ---- */\n");
    for s in facts.structs.iter().filter(|s| s.sort == Sort::Transparent) {
        transparent(&mut out, s);
    }
    out.push_str("\n/* ---- Callbacks and the type of an address that the loader gives ---- */\n\n");
    // The loader's own type returns the generic one.
    let callbacks = facts.structs.iter().filter(|s| s.sort == Sort::Callback);
    let (generic, others): (Vec<_>, Vec<_>) = callbacks.partition(|s| s.name == "PFNNVNGENERICFUNCPTRPROC");
    for s in generic.into_iter().chain(others) {
        let (returns, params) = split_callback(&s.c_type);
        out.push_str(&wrap(&format!("typedef {returns} (*{})({params});", s.name), ",", "    "));
    }
    out.push_str("\n/* ---- Functions ---- */\n");
    for (object, what) in GROUPS {
        let _ = writeln!(out, "\n/* {what} */");
        for f in group(facts, object) {
            if f.assumed {
                out.push_str("/* The prototype of the next is Navin's assumption. */\n");
            }
            out.push_str(&wrap(&format!("NVN_API {};", prototype(f)), ",", "    "));
        }
    }
    out.push_str("\n/* ---- Types of pointers to the functions ---- */\n\n");
    for (object, _) in GROUPS {
        for f in group(facts, object).filter(|f| f.name != "nvnBootstrapLoader") {
            let pointer = format!("(*PFN{}PROC)", f.name.to_uppercase());
            out.push_str(&wrap(&format!("typedef {};", prototype(f).replacen(&f.name, &pointer, 1)), ",", "    "));
        }
    }
    out.push_str(TAIL);
    out
}

/// The functions of an object in order of their names.
fn group<'a>(facts: &'a Facts, object: &'a str) -> impl Iterator<Item = &'a Function> {
    let known = |f: &Function| GROUPS.iter().any(|g| g.0 == f.object);
    // A function of an object that the list does not know goes with the loader.
    facts.functions.iter().filter(move |f| f.object == object || (object.is_empty() && !known(f)))
}

/// The text in lines of at most 110 characters, broken after `separator` and a space; every line but the first
/// begins with `indent`.
fn wrap(text: &str, separator: &str, indent: &str) -> String {
    let mut out = String::new();
    let mut column = 0;
    let between = format!("{separator} ");
    let mut parts = text.split(&between).peekable();
    while let Some(part) = parts.next() {
        let end = if parts.peek().is_some() { separator } else { "" };
        if column > 0 && column + 1 + part.len() + end.len() > 110 {
            out.push('\n');
            out.push_str(indent);
            column = indent.len();
        } else if column > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(part);
        out.push_str(end);
        column += part.len() + end.len();
    }
    out.push('\n');
    out
}

/// `prefix type name[count];`
fn declare(prefix: &str, c_type: &str, name: &str, count: usize) -> String {
    let array = if count > 1 { format!("[{count}]") } else { String::new() };
    format!("{prefix}{c_type} {name}{array};")
}

fn one_enum(out: &mut String, e: &Enum) {
    let _ = writeln!(out, "\ntypedef enum {} {{", e.name);
    for m in &e.members {
        let note = if m.inferred { " /* spelling ours */" } else { "" };
        let _ = writeln!(out, "    {} = {},{note}", m.c_name, m.value);
    }
    let _ = writeln!(out, "    {} = 0x7FFFFFFF\n}} {};", e.large, e.name);
}

fn transparent(out: &mut String, s: &Struct) {
    out.push('\n');
    if let Some(note) = s.note {
        out.push_str(&wrap(&format!("/* {note} */"), "", " * "));
    }
    let _ = writeln!(out, "typedef struct {} {{", s.name);
    for Field { name, c_type, count, .. } in &s.fields {
        let _ = writeln!(out, "{}", declare("    ", c_type, name, *count));
    }
    let _ = writeln!(out, "}} {};", s.name);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codegen::root;
    use std::process::Command;

    /// A program that checks the size and the offsets of everything in the header.
    fn layout_check(facts: &Facts) -> String {
        let mut out = String::from("#include \"nvn.h\"\n#define CHECK(n, x) typedef char check_##n[(x) ? 1 : -1];\n");
        for s in &facts.structs {
            let size = if s.sort == Sort::Opaque { s.max_size } else { s.min_size };
            let _ = writeln!(out, "CHECK({}, sizeof({}) == {size})", s.name, s.name);
            if s.sort == Sort::Transparent {
                for f in &s.fields {
                    let (ty, name) = (&s.name, &f.name);
                    let _ = writeln!(out, "CHECK({ty}_{name}, offsetof({ty}, {name}) == {})", f.offset);
                }
            }
        }
        for e in &facts.enums {
            let _ = writeln!(out, "CHECK({}, sizeof({}) == 4)", e.name, e.name);
            for m in &e.members {
                let _ = writeln!(out, "CHECK({}, (int){} == {})", m.c_name, m.c_name, m.value);
            }
        }
        // Every function, called through a pointer of its type.
        out.push_str("int main(void) {\n");
        for f in &facts.functions {
            let _ = writeln!(out, "    PFN{}PROC p_{} = {};", f.name.to_uppercase(), f.name, f.name);
            let _ = writeln!(out, "    (void)p_{};", f.name);
        }
        out.push_str("    return 0;\n}\n");
        out
    }

    fn compiles(compiler: &str, flags: &[&str]) {
        let facts = Facts::read(&root().join("facts")).unwrap();
        let folder =
            std::env::temp_dir().join(format!("nvn-header-{}-{}", std::process::id(), compiler.replace('+', "p")));
        std::fs::create_dir_all(&folder).unwrap();
        let source = folder.join(if compiler.ends_with("++") { "check.cpp" } else { "check.c" });
        std::fs::write(&source, layout_check(&facts)).unwrap();
        let command = Command::new(compiler)
            .args(flags)
            .args(["-Wall", "-Wextra", "-pedantic", "-Werror", "-Wno-unused-local-typedefs", "-fsyntax-only", "-I"])
            .arg(root().join("clients/include"))
            .arg(&source)
            .output();
        let output = match command {
            Ok(output) => output,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                eprintln!("{compiler} is not installed: the header was not checked with it");
                return;
            }
            Err(error) => panic!("{compiler}: {error}"),
        };
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(output.status.success(), "{compiler}: {}", String::from_utf8_lossy(&output.stderr));
    }

    #[test]
    fn the_header_is_c99_with_every_size_and_value() {
        compiles("gcc", &["-std=c99"]);
    }

    #[test]
    fn the_header_is_cpp() {
        compiles("g++", &["-std=c++11"]);
    }

    #[test]
    fn every_group_of_functions_has_a_comment() {
        let facts = Facts::read(&root().join("facts")).unwrap();
        for f in &facts.functions {
            assert!(GROUPS.iter().any(|g| g.0 == f.object), "{}: {}", f.name, f.object);
        }
    }
}

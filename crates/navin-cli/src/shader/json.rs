//! A program and its interface as JSON, and as text for people.
//!
//! Names and meanings of the JSON are stable; fields are only added. `hash` is the interface's value hash (kind 2).

use navin_shader::{
    ConstantLayoutTable, GuestProgram, HandleSource, ImageAccess, Interface, Requirements, SampledType, TranslateError,
    Translation,
};
use serde_json::{Value, json};

/// Everything about a program; `error` in place of the interface when it does not translate.
pub fn program(
    name: &str,
    control: &[u8],
    guest: &GuestProgram<'_>,
    translated: &Result<Translation, TranslateError>,
) -> Value {
    let mut out = head(name, control, guest);
    match translated {
        Ok(t) => {
            out["spirv_words"] = t.spirv.len().into();
            out["interface"] = interface(&t.interface);
        }
        Err(e) => out["error"] = e.to_string().into(),
    }
    out
}

/// What is known of a program before it is translated.
pub fn head(name: &str, control: &[u8], guest: &GuestProgram<'_>) -> Value {
    json!({
        "name": name,
        "key": format!("{:016x}", guest.key),
        "stage": guest.stage.to_string(),
        "code_bytes": guest.code.len(),
        "constant_bytes": guest.constants.len(),
        "registers": guest.registers,
        "warp_scratch_bytes": guest.warp_scratch_bytes,
        "header": guest.header.words().iter().map(|w| format!("{w:08x}")).collect::<Vec<_>>(),
        "control": control_words(control),
    })
}

/// A listing: each instruction with its words, its text, where it jumps to, and its scheduling.
pub fn listing(name: &str, guest: &GuestProgram<'_>, layout: &ConstantLayoutTable) -> Value {
    let lines: Vec<Value> = navin_shader::isa::disasm::lines(guest, Some(layout))
        .iter()
        .map(|line| {
            json!({
                "offset": line.offset,
                "word": format!("{:016x}", line.word),
                "label": line.label.map(|n| format!("L{n}")),
                "name": line.name,
                "text": line.text,
                "target": line.target,
                "names": line.names,
                "schedule": {
                    "stall": line.schedule.stall,
                    "yield": line.schedule.yields,
                    "write": line.schedule.writes,
                    "read": line.schedule.reads,
                    "wait": bits(line.schedule.waits),
                    "reuse": bits(line.schedule.reuse),
                },
            })
        })
        .collect();
    json!({ "name": name, "key": format!("{:016x}", guest.key), "stage": guest.stage.to_string(), "instructions": lines })
}

/// The words of the control section that are not 0, known or not, by offset.
fn control_words(control: &[u8]) -> Value {
    let words = control.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
    let named = (0..).step_by(4).zip(words).filter(|(_, w)| *w != 0);
    Value::Object(named.map(|(at, w): (usize, u32)| (format!("{at:#05x}"), format!("{w:#x}").into())).collect())
}

fn bits(mask: u32) -> Vec<u32> {
    (0..32).filter(|n| mask >> n & 1 != 0).collect()
}

fn handle(source: HandleSource) -> Value {
    match source {
        HandleSource::Bound(word) => json!({ "word": word }),
        HandleSource::Bindless => json!("bindless"),
    }
}

fn sampled(t: SampledType) -> &'static str {
    match t {
        SampledType::Float => "float",
        SampledType::Uint => "uint",
    }
}

fn requirements(r: Requirements) -> Vec<String> {
    r.iter_names().map(|(name, _)| name.to_lowercase()).collect()
}

/// An interface.
pub fn interface(i: &Interface) -> Value {
    let textures: Vec<Value> = i
        .textures
        .iter()
        .map(|t| {
            json!({
                "handle": handle(t.handle),
                "kind": format!("{:?}", t.kind),
                "shadow": t.shadow,
                "sampled": sampled(t.sampled),
            })
        })
        .collect();
    let images: Vec<Value> = i
        .images
        .iter()
        .map(|t| {
            json!({
                "handle": handle(t.handle),
                "kind": format!("{:?}", t.kind),
                "raw": t.raw,
                "sampled": sampled(t.sampled),
                "load": t.access.contains(ImageAccess::LOAD),
                "store": t.access.contains(ImageAccess::STORE),
                "atomic": t.access.contains(ImageAccess::ATOMIC),
            })
        })
        .collect();
    let constants: Vec<Value> = bits(i.constant_banks)
        .into_iter()
        .map(|bank| json!({ "bank": bank, "bytes": i.constant_bytes[bank as usize % 18] }))
        .collect();
    let storage: Vec<Value> = bits(i.storage_slots)
        .into_iter()
        .map(|slot| json!({ "slot": slot, "written": i.storage_written >> slot & 1 != 0 }))
        .collect();
    json!({
        "hash": format!("{:016x}", i.stable_hash()),
        "hash_kind": 2,
        "constants": constants,
        "storage": storage,
        "textures": textures,
        "images": images,
        "raw_memory": i.uses_page_table,
        "inputs": bits(i.inputs),
        "outputs": bits(i.outputs),
        "dual_source": i.dual_source,
        "one_colour": i.one_colour,
        "geometry_input": i.geometry_input.map(|g| format!("{g:?}")),
        "writes_depth": i.writes_depth,
        "writes_sample_mask": i.writes_sample_mask,
        "early_fragment_tests": i.early_fragment_tests,
        "kills": i.kills,
        "per_sample": i.per_sample,
        "local_size": i.local_size,
        "shared_bytes": i.shared_bytes,
        "local_bytes": i.local_bytes,
        "clip_distances": bits(i.clip_distances),
        "patch_vertices": i.patch_vertices,
        "dropped_outputs": i.dropped_outputs,
        "requirements": requirements(i.requirements),
    })
}

/// A few lines for people.
pub fn text(name: &str, guest: &GuestProgram<'_>, translated: &Result<Translation, TranslateError>) -> String {
    let mut out = format!(
        "{name}: {}, {} bytes of code, {} of constants, {} registers, key {:016x}\n",
        guest.stage,
        guest.code.len(),
        guest.constants.len(),
        guest.registers,
        guest.key
    );
    let t = match translated {
        Ok(t) => t,
        Err(e) => return out + &format!("  does not translate: {e}\n"),
    };
    let i = &t.interface;
    let mut line = |what: &str, value: String| {
        if !value.is_empty() {
            out += &format!("  {what:<12} {value}\n");
        }
    };
    let list = |items: Vec<String>| items.join(", ");
    line("SPIR-V", format!("{} words, interface {:016x}", t.spirv.len(), i.stable_hash()));
    let banks = bits(i.constant_banks);
    line(
        "constants",
        list(banks.iter().map(|&b| format!("bank {b}: {}", i.constant_bytes[b as usize % 18])).collect()),
    );
    let slots = bits(i.storage_slots).into_iter();
    let written = |slot: u32| if i.storage_written >> slot & 1 != 0 { " written" } else { "" };
    line("storage", list(slots.map(|s| format!("{s}{}", written(s))).collect()));
    let source = |h: HandleSource| match h {
        HandleSource::Bound(word) => format!("word {word}"),
        HandleSource::Bindless => "bindless".into(),
    };
    let shadow = |s: bool| if s { " shadow" } else { "" };
    let textures = i.textures.iter();
    line(
        "textures",
        list(textures.map(|t| format!("{:?}{} at {}", t.kind, shadow(t.shadow), source(t.handle))).collect()),
    );
    line("images", list(i.images.iter().map(|t| format!("{:?} at {}", t.kind, source(t.handle))).collect()));
    line("inputs", list(bits(i.inputs).iter().map(u32::to_string).collect()));
    line("outputs", list(bits(i.outputs).iter().map(u32::to_string).collect()));
    if i.local_size != [1; 3] || i.shared_bytes != 0 {
        let [x, y, z] = i.local_size;
        line("workgroup", format!("{x} x {y} x {z}, {} bytes shared", i.shared_bytes));
    }
    line("requires", list(requirements(i.requirements)));
    out
}

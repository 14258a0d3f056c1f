//! Writes the generated files of `navin-abi`. The text is laid out as `rustfmt` would leave it.

use std::fmt::Write as _;

use super::facts::{Enum, Facts, Field, Function, Sort, Struct};

/// The first lines of every generated file.
const HEAD: &str = "// Generated from facts/ by `cargo xtask gen`. Do not edit.\n\n";

/// Line width of rustfmt.toml.
const WIDTH: usize = 120;

/// The Rust type for a C type.
pub fn rust_type(c: &str) -> String {
    let c = c.trim();
    if let Some(pointee) = c.strip_suffix('*') {
        let pointee = pointee.trim();
        // `const T*` points at constants; `const T* const*` at constant pointers to constants.
        if let Some(inner) = pointee.strip_suffix(" const").filter(|p| p.ends_with('*')) {
            return format!("*const {}", rust_type(inner));
        }
        return match pointee.strip_prefix("const ") {
            Some(inner) if !inner.ends_with('*') => format!("*const {}", pointee_type(inner)),
            _ => format!("*mut {}", pointee_type(pointee)),
        };
    }
    match c.strip_prefix("const ").unwrap_or(c) {
        "int" | "int32_t" => "i32".into(),
        "uint8_t" => "u8".into(),
        "uint32_t" => "u32".into(),
        "uint64_t" => "u64".into(),
        "int64_t" => "i64".into(),
        "size_t" => "usize".into(),
        "ptrdiff_t" => "isize".into(),
        "float" => "f32".into(),
        "void" => "()".into(),
        name => name.into(),
    }
}

fn pointee_type(c: &str) -> String {
    match c {
        "void" => "core::ffi::c_void".into(),
        "char" => "core::ffi::c_char".into(),
        "unsigned char" => "u8".into(),
        other => rust_type(other),
    }
}

/// The type of a struct's field: addresses are [`GuestPtr`], so that the struct is plain data.
fn field_type(field: &Field) -> String {
    let ty = match field.c_type.strip_suffix('*') {
        Some(pointee) => format!("GuestPtr<{}>", pointee_type(pointee.trim_start_matches("const ").trim())),
        None => rust_type(&field.c_type),
    };
    if field.count > 1 { format!("[{ty}; {}]", field.count) } else { ty }
}

/// `cmdBuf` -> `cmd_buf`, `modeRGB` -> `mode_rgb`; keywords get a trailing underscore.
pub fn snake(name: &str) -> String {
    let mut out = String::new();
    let mut previous_lower = false;
    for c in name.chars() {
        if c.is_ascii_uppercase() && previous_lower {
            out.push('_');
        }
        previous_lower = c.is_ascii_lowercase() || c.is_ascii_digit();
        out.push(c.to_ascii_lowercase());
    }
    if ["ref", "type", "in", "fn", "match", "move"].contains(&out.as_str()) {
        out.push('_');
    }
    out
}

/// The C prototype of a function, on one line.
pub fn prototype(function: &Function) -> String {
    let params: Vec<_> = function.params.iter().map(|p| format!("{} {}", p.c_type, p.name)).collect();
    let params = if params.is_empty() { "void".to_owned() } else { params.join(", ") };
    format!("{} {}({params})", function.returns, function.name)
}

/// Parameter names and types in Rust.
fn rust_params(function: &Function) -> Vec<String> {
    function
        .params
        .iter()
        .map(|p| format!("{}: {}", snake(&p.name), p.mask.clone().unwrap_or_else(|| rust_type(&p.c_type))))
        .collect()
}

/// `generated/enums.rs`.
pub fn enums(facts: &Facts) -> String {
    let mut out = String::from(HEAD);
    out.truncate(HEAD.len() - 1);
    for e in &facts.enums {
        one_enum(&mut out, e);
    }
    out
}

fn one_enum(out: &mut String, e: &Enum) {
    let (kind, what) = if e.is_mask { ("masks", "Bits") } else { ("values", "Values") };
    let _ = writeln!(out, "\n{kind}! {{\n    /// {what} of `{}` as a guest passes them; may hold any number.", e.name);
    let _ = writeln!(out, "    {} {{", e.name);
    for m in &e.members {
        let note = if m.inferred { " (C spelling ours)" } else { "" };
        let _ = writeln!(out, "        {} = {}, \"`{}`{note}.\";", m.short, m.value, m.c_name);
    }
    out.push_str("    }\n}\n");
}

/// `generated/functions.rs`.
pub fn functions(facts: &Facts) -> String {
    let mut out = String::from(HEAD);
    out.push_str("functions! {\n");
    for (id, f) in facts.functions.iter().enumerate() {
        let _ = writeln!(out, "    {id} {} \"{}\";", f.name, prototype(f));
    }
    out.push_str("}\n");
    out
}

/// `generated/for_each.rs`: the list macro.
pub fn for_each(facts: &Facts) -> String {
    let mut out = String::from(HEAD);
    out.push_str(
        "/// Calls `$callback!` once, with every NVN function in order of its id:\n\
         /// `(id, name, (argument: Type, ...), Return)`, one after the other.\n\
         ///\n\
         /// The types are those of [`types`](crate::types), which the caller has in scope.\n\
         #[macro_export]\n\
         macro_rules! for_each_nvn_function {\n    ($callback:ident) => {\n        $callback! {\n",
    );
    for (id, f) in facts.functions.iter().enumerate() {
        let _ =
            writeln!(out, "            ({id}, {}, ({}), {})", f.name, rust_params(f).join(", "), rust_type(&f.returns));
    }
    out.push_str("        }\n    };\n}\n");
    out
}

/// `generated/pfn.rs`: one function pointer type for each function.
pub fn pfn(facts: &Facts) -> String {
    let mut out = String::from(HEAD);
    out.push_str("use crate::types::*;\n");
    for f in &facts.functions {
        let _ = write!(out, "\n/// `{}`", prototype(f));
        out.push_str(if f.assumed { " (prototype assumed)\n" } else { "\n" });
        let returns = match rust_type(&f.returns).as_str() {
            "()" => String::new(),
            ty => format!(" -> {ty}"),
        };
        let params = rust_params(f);
        let line = format!("pub type {} = unsafe extern \"C\" fn({}){returns};\n", f.name, params.join(", "));
        if line.len() <= WIDTH + 1 {
            out.push_str(&line);
            continue;
        }
        let tail = format!("    unsafe extern \"C\" fn({}){returns};\n", params.join(", "));
        if tail.len() <= WIDTH + 1 {
            let _ = write!(out, "pub type {} =\n{tail}", f.name);
            continue;
        }
        let _ = writeln!(out, "pub type {} = unsafe extern \"C\" fn(", f.name);
        for param in params {
            let _ = writeln!(out, "    {param},");
        }
        let _ = writeln!(out, "){returns};");
    }
    out
}

/// `generated/device_info.rs`.
pub fn device_info(facts: &Facts) -> String {
    let mut out = String::from(HEAD);
    out.push_str("items! {\n");
    let value = |v: Option<i32>| v.map_or("-".to_owned(), |v| v.to_string());
    for i in &facts.items {
        let name = i.name.as_deref().unwrap_or("-");
        let _ = writeln!(out, "    {} {name}: {}, {};", i.item, value(i.x1), value(i.nvn2));
    }
    out.push_str("}\n");
    out
}

/// `generated/structs.rs`: markers of opaque objects, transparent structs, scalars, callbacks.
pub fn structs(facts: &Facts) -> String {
    let mut out = String::from(HEAD);
    out.push_str("use bytemuck::{Pod, Zeroable};\n\nuse crate::GuestPtr;\nuse crate::enums::*;\n");
    for s in &facts.structs {
        match s.sort {
            Sort::Opaque => {
                let _ = writeln!(out, "\nopaque! {{\n    /// A guest's `{}`.\n    {}\n}}", s.name, s.name);
            }
            Sort::Transparent => transparent(&mut out, s),
            Sort::Scalar => {
                let ty = if s.c_type == "void*" { "*mut core::ffi::c_void".into() } else { rust_type(&s.c_type) };
                let _ =
                    writeln!(out, "\n/// NVN's scalar `{}`, `{}` in C.\npub type {} = {ty};", s.name, s.c_type, s.name);
            }
            Sort::Callback => callback(&mut out, s),
        }
    }
    out
}

fn transparent(out: &mut String, s: &Struct) {
    let _ = writeln!(out, "\n/// A guest's `{}`, {} bytes.", s.name, s.min_size);
    if let Some(note) = s.note {
        let _ = writeln!(out, "///\n/// {note}");
    }
    let _ =
        writeln!(out, "#[repr(C)]\n#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]\npub struct {} {{", s.name);
    for f in &s.fields {
        let _ = writeln!(out, "    /// `{} {}`, at byte {}.", f.c_type, f.name, f.offset);
        let _ = writeln!(out, "    pub {}: {},", snake(&f.name), field_type(f));
    }
    let _ = writeln!(out, "}}\n\nconst _: () = {{");
    let _ = writeln!(out, "    assert!(size_of::<{}>() == {});", s.name, s.min_size);
    for f in &s.fields {
        let _ = writeln!(out, "    assert!(core::mem::offset_of!({}, {}) == {});", s.name, snake(&f.name), f.offset);
    }
    out.push_str("};\n");
}

/// Splits `R (A a, B b)`.
pub fn split_callback(c_type: &str) -> (&str, &str) {
    let (returns, params) = c_type.split_once(" (").unwrap_or((c_type, ")"));
    (returns, params.trim_end_matches(')'))
}

fn callback(out: &mut String, s: &Struct) {
    let (returns, params) = split_callback(&s.c_type);
    let params: Vec<_> = params
        .split(", ")
        .filter(|p| !["", "void"].contains(p))
        .map(|p| match p.rsplit_once(' ') {
            Some((ty, name)) if !name.ends_with('*') => format!("{}: {}", snake(name), rust_type(ty)),
            _ => rust_type(p),
        })
        .collect();
    let returns = match rust_type(returns).as_str() {
        "()" => String::new(),
        ty => format!(" -> {ty}"),
    };
    let _ = writeln!(out, "\n/// A guest's callback `{}`: `{}`; `None` for null.", s.name, s.c_type);
    let line = format!("pub type {} = Option<unsafe extern \"C\" fn({}){returns}>;", s.name, params.join(", "));
    if line.len() <= WIDTH {
        let _ = writeln!(out, "{line}");
        return;
    }
    let tail = format!("    Option<unsafe extern \"C\" fn({}){returns}>;", params.join(", "));
    if tail.len() <= WIDTH {
        let _ = writeln!(out, "pub type {} =\n{tail}", s.name);
        return;
    }
    let _ = writeln!(out, "pub type {} = Option<\n    unsafe extern \"C\" fn(", s.name);
    for param in params {
        let _ = writeln!(out, "        {param},");
    }
    let _ = writeln!(out, "    ){returns},\n>;");
}

/// `generated/sizes.rs`: the smallest and largest known size of every opaque object.
pub fn sizes(facts: &Facts) -> String {
    let mut out = String::from(HEAD);
    for s in facts.structs.iter().filter(|s| s.sort == Sort::Opaque) {
        let upper = s.name.to_uppercase();
        let _ = writeln!(out, "/// Bytes of the smallest `{}` that any SDK declares.", s.name);
        let _ = writeln!(out, "pub const MIN_{upper}: usize = {};", s.min_size);
        let _ = writeln!(out, "/// Bytes of the largest, which `nvn.h` declares.");
        let _ = writeln!(out, "pub const MAX_{upper}: usize = {};", s.max_size);
    }
    out
}

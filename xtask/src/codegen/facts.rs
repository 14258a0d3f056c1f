//! Reads the tables of `facts/` into plain structs; every other module of the generator works on these.

use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

use super::layouts;

/// All tables that code is generated from.
pub struct Facts {
    pub enums: Vec<Enum>,
    /// Sorted by name; a function's id is its index.
    pub functions: Vec<Function>,
    pub items: Vec<DeviceItem>,
    pub structs: Vec<Struct>,
}

/// One NVN enum, or mask of bits.
pub struct Enum {
    pub name: String,
    /// Whether the values are bits to be combined.
    pub is_mask: bool,
    /// Without the size marker (`..._LARGE`).
    pub members: Vec<Enumerator>,
    /// The C name of the size marker, ours where no header has one.
    pub large: String,
}

/// One value of an [`Enum`].
pub struct Enumerator {
    /// The name in C. Where only the C++ spelling is known, the enum's prefix and that spelling.
    pub c_name: String,
    /// Without the enum's common prefix: the constant's name in Rust.
    pub short: String,
    pub value: i32,
    /// Whether the C spelling is ours.
    pub inferred: bool,
}

/// One function of the API.
pub struct Function {
    pub name: String,
    /// C type, `void` for none.
    pub returns: String,
    pub params: Vec<Param>,
    /// The object it belongs to, `CommandBuffer`; empty for the two loaders and extensions.
    pub object: String,
    /// Whether the prototype is our choice because no source gives it.
    pub assumed: bool,
}

/// One parameter of a [`Function`].
pub struct Param {
    pub name: String,
    pub c_type: String,
    /// The mask type that C hides behind `int`.
    pub mask: Option<String>,
}

/// One item of `nvnDeviceGetInteger`.
pub struct DeviceItem {
    pub item: i32,
    pub name: Option<String>,
    pub x1: Option<i32>,
    pub nvn2: Option<i32>,
}

/// What sort of type a row of the struct table is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    Opaque,
    Transparent,
    Scalar,
    Callback,
}

/// One struct, scalar or callback type.
pub struct Struct {
    pub name: String,
    pub sort: Sort,
    /// The smallest size any SDK gives the object.
    pub min_size: usize,
    /// The largest.
    pub max_size: usize,
    /// Scalar and callback types: the C type.
    pub c_type: String,
    pub fields: Vec<Field>,
    /// Why the layout is ours, where it is.
    pub note: Option<&'static str>,
}

/// One member of a transparent [`Struct`].
pub struct Field {
    pub name: String,
    pub c_type: String,
    /// More than 1 for an array.
    pub count: usize,
    pub offset: usize,
}

/// Splits a table into rows of cells and checks its header line.
fn rows(dir: &Path, file: &str, columns: &[&str]) -> Result<Vec<Vec<String>>> {
    let path = dir.join(file);
    let text = std::fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
    let mut lines = text.lines();
    let header: Vec<_> = lines.next().unwrap_or_default().split('\t').collect();
    ensure!(header == columns, "{file}: columns are {header:?}, expected {columns:?}");
    lines
        .enumerate()
        .map(|(index, line)| {
            let cells: Vec<_> = line.split('\t').map(str::to_owned).collect();
            ensure!(cells.len() == columns.len(), "{file}:{}: {} cells", index + 2, cells.len());
            Ok(cells)
        })
        .collect()
}

impl Facts {
    /// Reads the tables of the folder `dir`.
    pub fn read(dir: &Path) -> Result<Self> {
        Ok(Self {
            enums: read_enums(dir)?,
            functions: read_functions(dir)?,
            items: read_items(dir)?,
            structs: read_structs(dir)?,
        })
    }
}

/// Whether an enum's values are bits; the headers pass such values as `int`.
fn is_mask(name: &str) -> bool {
    ["Bits", "Flags", "Mask"].iter().any(|end| name.ends_with(end))
        || ["NVNpolygonOffsetEnable", "NVNface"].contains(&name)
}

/// `NVNrawStorageClass` -> `NVN_RAW_STORAGE_CLASS_`, without a last word `Bits`.
fn prefix_of_name(name: &str) -> String {
    let mut prefix = String::from("NVN_");
    let stem = name.trim_start_matches("NVN");
    for c in stem.strip_suffix("Bits").unwrap_or(stem).chars() {
        if c.is_ascii_uppercase() {
            prefix.push('_');
        }
        prefix.push(c.to_ascii_uppercase());
    }
    prefix.push('_');
    prefix
}

/// The longest common prefix of the names, cut after its last underscore.
fn common_prefix(names: &[&str]) -> String {
    let Some((first, rest)) = names.split_first() else { return String::new() };
    let length = rest.iter().fold(first.len(), |length, name| {
        first.bytes().zip(name.bytes()).take(length).take_while(|(a, b)| a == b).count()
    });
    let cut = first[..length].rfind('_').map_or(0, |at| at + 1);
    first[..cut].to_owned()
}

fn read_enums(dir: &Path) -> Result<Vec<Enum>> {
    let columns = ["enum", "enumerator", "value_dec", "value_hex", "cpp_name", "source", "notes"];
    let mut groups: Vec<(String, Vec<(String, i32)>)> = Vec::new();
    for row in rows(dir, "nvn_enums.tsv", &columns)? {
        let value = row[2].parse().with_context(|| format!("{}: value {}", row[1], row[2]))?;
        match groups.last_mut() {
            Some((name, members)) if *name == row[0] => members.push((row[1].clone(), value)),
            _ => groups.push((row[0].clone(), vec![(row[1].clone(), value)])),
        }
    }
    Ok(groups
        .into_iter()
        .map(|(name, members)| {
            let known: Vec<_> = members.iter().map(|(c, _)| c.as_str()).filter(|c| c.starts_with("NVN_")).collect();
            let prefix = if known.is_empty() { prefix_of_name(&name) } else { common_prefix(&known) };
            let large = known.iter().find(|c| c.ends_with("_LARGE"));
            let large = large.map_or_else(|| format!("{prefix}LARGE"), |c| (*c).to_owned());
            let members = members
                .iter()
                .filter(|(c_name, _)| *c_name != large)
                .map(|(c_name, value)| {
                    let inferred = !c_name.starts_with("NVN_");
                    let bit = if inferred && name.ends_with("Bits") { "_BIT" } else { "" };
                    let c_name = if inferred { format!("{prefix}{c_name}{bit}") } else { c_name.clone() };
                    let mut short = c_name[prefix.len()..].to_owned();
                    if short.starts_with(|c: char| c.is_ascii_digit()) {
                        // NVN_TEXTURE_TARGET_2D: the last word of the prefix makes it an identifier, TARGET_2D.
                        let word = prefix.trim_end_matches('_').rsplit('_').next().unwrap_or_default();
                        short = format!("{word}_{short}");
                    }
                    Enumerator { c_name, short, value: *value, inferred }
                })
                .collect();
            Enum { is_mask: is_mask(&name), name, members, large }
        })
        .collect())
}

fn read_functions(dir: &Path) -> Result<Vec<Function>> {
    let columns = ["name", "return_type", "parameters", "object", "kind", "source", "since", "in_text", "notes"];
    let mut functions = Vec::new();
    for row in rows(dir, "nvn_functions.tsv", &columns)? {
        let name = row[0].clone();
        let assumed = layouts::ASSUMED_PROTOTYPES.iter().find(|p| p.0 == name);
        let (returns, params) = match assumed {
            Some((_, returns, params)) => ((*returns).to_owned(), (*params).to_owned()),
            None => (row[1].clone(), row[2].clone()),
        };
        if returns == "-" {
            bail!("{name}: the table gives no return type and layouts.rs no prototype");
        }
        let masks: Vec<(&str, &str)> = row[8]
            .split("; ")
            .filter_map(|note| note.strip_prefix("mask type (C++ header): "))
            .flat_map(|list| list.split(", "))
            .filter_map(|pair| pair.split_once('='))
            .collect();
        let params = params
            .split("; ")
            .filter(|p| !["", "-", "void"].contains(p))
            .map(|p| {
                let (c_type, param) = p.rsplit_once(' ').with_context(|| format!("{name}: parameter {p}"))?;
                let mask = masks.iter().find(|m| m.0 == param).map(|m| m.1.to_owned());
                // `near` and `far` are macros of a system header of Windows.
                let param = match param {
                    "near" => "zNear",
                    "far" => "zFar",
                    other => other,
                };
                Ok(Param { name: param.to_owned(), c_type: c_type.to_owned(), mask })
            })
            .collect::<Result<_>>()?;
        let object = if row[3].starts_with('(') { String::new() } else { row[3].clone() };
        functions.push(Function { name, returns, params, object, assumed: assumed.is_some() });
    }
    functions.sort_by(|a, b| a.name.cmp(&b.name));
    for pair in functions.windows(2) {
        ensure!(pair[0].name != pair[1].name, "{} is in the table twice", pair[0].name);
    }
    Ok(functions)
}

fn read_items(dir: &Path) -> Result<Vec<DeviceItem>> {
    let columns = ["item_dec", "item_hex", "name", "x1_value", "x1_source", "nvn2_value", "nvn2_source", "notes"];
    let value = |cell: &str| match cell {
        // NVN2 answers no limit: the largest value the call can give.
        "unbounded" => Ok(Some(i32::MAX)),
        "-" | "runtime" | "runtime?" => Ok(None),
        number => number.parse().map(Some).with_context(|| format!("device item value {number}")),
    };
    rows(dir, "nvn_device_info.tsv", &columns)?
        .iter()
        .enumerate()
        .map(|(index, row)| {
            let item = row[0].parse()?;
            ensure!(item as usize == index, "nvn_device_info.tsv: item {item} in row {index}");
            let name = (row[2] != "-").then(|| row[2].clone());
            Ok(DeviceItem { item, name, x1: value(&row[3])?, nvn2: value(&row[5])? })
        })
        .collect()
}

/// All numbers written in hexadecimal in a cell of sizes.
fn hex_numbers(cell: &str) -> impl Iterator<Item = usize> + '_ {
    cell.split("0x").skip(1).filter_map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(rest.len());
        usize::from_str_radix(&rest[..end], 16).ok()
    })
}

fn read_structs(dir: &Path) -> Result<Vec<Struct>> {
    let columns =
        ["struct", "row", "member", "offset", "size", "type", "min_known_size", "size_by_sdk", "source", "notes"];
    let mut structs: Vec<Struct> = Vec::new();
    for row in rows(dir, "nvn_structs.tsv", &columns)? {
        let name = layouts::RENAMED.iter().find(|r| r.0 == row[0]).map_or(row[0].as_str(), |r| r.1).to_owned();
        let number = |cell: &str| cell.parse::<usize>().with_context(|| format!("{name}: number {cell}"));
        let sort = match row[1].as_str() {
            "opaque" => Sort::Opaque,
            "transparent" => Sort::Transparent,
            "scalar" => Sort::Scalar,
            "callback" => Sort::Callback,
            // The generator's own table has the layout.
            "undefined" => continue,
            "member" => {
                let Some(parent) = structs.last_mut().filter(|s| s.name == name) else { continue };
                if parent.sort == Sort::Transparent && !layouts::ARRAYS.iter().any(|a| a.0 == name) {
                    let (offset, size) = (number(&row[3])?, number(&row[4])?);
                    let bytes = row[5] == "bytes";
                    let c_type = if bytes { "uint8_t".to_owned() } else { row[5].clone() };
                    let count = if bytes { size } else { 1 };
                    parent.fields.push(Field { name: row[2].clone(), c_type, count, offset });
                }
                continue;
            }
            other => bail!("{name}: unknown kind of row {other}"),
        };
        let size = number(&row[4])?;
        let min_size = if row[6] == "-" { size } else { number(&row[6])? };
        let max_size = hex_numbers(&row[7]).fold(size.max(min_size), usize::max);
        let fields = layouts::ARRAYS
            .iter()
            .filter(|a| a.0 == name)
            .map(|a| Field { name: a.1.into(), c_type: a.2.into(), count: a.3, offset: 0 })
            .collect();
        structs.push(Struct { name, sort, min_size, max_size, c_type: row[5].clone(), fields, note: None });
    }
    for ours in layouts::OURS {
        let fields = ours
            .fields
            .iter()
            .map(|f| Field { name: f.0.into(), c_type: f.1.into(), count: f.2, offset: f.3 })
            .collect();
        structs.push(Struct {
            name: ours.name.into(),
            sort: Sort::Transparent,
            min_size: ours.size,
            max_size: ours.size,
            c_type: "struct".into(),
            fields,
            note: Some(ours.note),
        });
    }
    Ok(structs)
}

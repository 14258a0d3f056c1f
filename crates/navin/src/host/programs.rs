//! Programs: a guest's machine code translated and made into shader objects when it is given, so that no draw
//! compiles anything.
//!
//! `nvnProgramSetShaders` gives code (in a pool) and control sections; the translation and the Vulkan shader are
//! made on the calling guest thread. Binding captures the program's serial; replay resolves it here. Only types
//! that the machine code leaves open (vertex attributes, colour outputs) can ask for another variant later.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use navin_abi::{GuestPtr, fault};
use navin_shader::{
    AttributeType, ConstantLayout, ConstantLayoutTable, DeviceFeatures, GeometryInput, GuestProgram, Interface,
    Options, Translator,
};
use navin_vulkan::{Buffer, InputClass, MemoryKind, Shader, ShaderDesc};
use parking_lot::{Mutex, RwLock};

use super::requirements;
use crate::driver::{self, Driver};

/// Bytes of a control section (`NVNshaderData::control`).
const CONTROL_BYTES: usize = 0x7C8;

type Bytes = Box<[u8]>;

/// The shaders of a stage beside the usual one; `None` for what could not be made.
type Variants = HashMap<(Types, Extras), Option<Arc<Shader>>>;

/// One stage of a program, translated.
pub(crate) struct ProgramStage {
    /// The program's serial.
    pub(crate) serial: u64,
    /// Names the machine code, as in the names of dumped files.
    key: u64,
    pub(crate) stage: navin_shader::Stage,
    pub(crate) interface: Interface,
    pub(crate) layout: &'static ConstantLayoutTable,
    /// The program's constant data (bank 1), if it has any.
    pub(crate) constants: Option<Buffer>,
    /// The newest submission when `nvnProgramFinalize` came; in later ones, bindings of the program count as empty
    /// (B231).
    finalized: AtomicU64,
    shader: Arc<Shader>,
    control: Box<[u8]>,
    code: Box<[u8]>,
    variants: Mutex<Variants>,
}

bitflags::bitflags! {
    /// State that Vulkan has no commands for and a shader has to see to (`navin_shader::state_bank`).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub(crate) struct Extras: u8 {
        /// Fragments are tested by their alpha.
        const ALPHA_TEST = 1;
        /// Points have the size that the guest set.
        const POINT_SIZE = 2;
        /// Colour 1 is the second source of blending.
        const DUAL_SOURCE = 4;
        /// Geometry programs get points; none of these five: what the program was translated for.
        const FROM_POINTS = 8;
        /// Lines.
        const FROM_LINES = 16;
        /// Lines with adjacency.
        const FROM_LINES_ADJACENCY = 32;
        /// Triangles.
        const FROM_TRIANGLES = 64;
        /// Triangles with adjacency.
        const FROM_TRIANGLES_ADJACENCY = 128;
    }
}

impl Extras {
    /// The five that tell a geometry program its input.
    const INPUTS: [(Extras, GeometryInput); 5] = [
        (Extras::FROM_POINTS, GeometryInput::Points),
        (Extras::FROM_LINES, GeometryInput::Lines),
        (Extras::FROM_LINES_ADJACENCY, GeometryInput::LinesAdjacency),
        (Extras::FROM_TRIANGLES, GeometryInput::Triangles),
        (Extras::FROM_TRIANGLES_ADJACENCY, GeometryInput::TrianglesAdjacency),
    ];

    /// All five.
    pub(crate) const ANY_INPUT: Extras = Extras::FROM_POINTS
        .union(Extras::FROM_LINES)
        .union(Extras::FROM_LINES_ADJACENCY)
        .union(Extras::FROM_TRIANGLES)
        .union(Extras::FROM_TRIANGLES_ADJACENCY);

    /// What a geometry program gets, where that is told.
    fn geometry_input(self) -> Option<GeometryInput> {
        Self::INPUTS.into_iter().find(|(flag, _)| self.contains(*flag)).map(|(_, input)| input)
    }

    /// The flag of an input.
    pub(crate) fn from_input(input: GeometryInput) -> Extras {
        Self::INPUTS.into_iter().find(|(_, i)| *i == input).map_or(Extras::empty(), |(flag, _)| flag)
    }
}

/// Types that the machine code leaves open, as a variant's key: two bits for each location.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Types(u64);

impl Types {
    pub(crate) fn set(&mut self, location: usize, kind: AttributeType) {
        let bits = match kind {
            AttributeType::Infer => 0,
            AttributeType::Float => 1,
            AttributeType::Sint => 2,
            AttributeType::Uint => 3,
        };
        if location < 32 {
            self.0 = self.0 & !(3 << (2 * location)) | bits << (2 * location);
        }
    }

    /// Locations whose type is told: bit n is location n.
    fn told(self) -> u32 {
        (0..32).filter(|n| self.0 >> (2 * n) & 3 != 0).fold(0, |told, n| told | 1 << n)
    }

    fn get(self, location: usize) -> AttributeType {
        match self.0 >> (2 * location) & 3 {
            1 => AttributeType::Float,
            2 => AttributeType::Sint,
            3 => AttributeType::Uint,
            _ => AttributeType::Infer,
        }
    }
}

impl ProgramStage {
    /// Whether the program was finalized before the submission with this number was made.
    pub(crate) fn finalized_before(&self, arrival: u64) -> bool {
        self.finalized.load(Ordering::Acquire) < arrival
    }

    /// Whether the translated code has a loop that is never left. Translates once more: for diagnosis.
    fn endless(&self, driver: &Driver) -> bool {
        let Ok(program) = GuestProgram::parse(&self.control, &self.code) else { return false };
        let translated = TRANSLATOR.with_borrow_mut(|t| t.translate(&program, &options(driver, self.layout)));
        translated.is_ok_and(|translation| !navin_shader::endless_blocks(&translation.spirv).is_empty())
    }

    /// The shader whose open types (vertex inputs of a vertex program, colour outputs of a fragment program) are
    /// these, and that sees to `extras`. The usual one is the program's own; another is made at its first use, and
    /// kept. On the submit thread, inside the scheduler's gate.
    pub(crate) fn shader(&self, driver: &Driver, types: Types, mut extras: Extras) -> Option<Arc<Shader>> {
        if self.interface.outputs & 2 == 0 {
            extras -= Extras::DUAL_SOURCE;
        }
        if let Some(input) = self.interface.geometry_input {
            extras -= Extras::from_input(input);
        }
        let mut differs = !extras.is_empty();
        let (declared, used): (&[AttributeType], u32) = match self.stage {
            navin_shader::Stage::Vertex => (&self.interface.input_types, self.interface.inputs),
            // A program's only colour goes to whatever targets are bound.
            navin_shader::Stage::Fragment if self.interface.one_colour => {
                (&self.interface.output_types, self.interface.outputs | types.told() & 0xFF)
            }
            navin_shader::Stage::Fragment => (&self.interface.output_types, self.interface.outputs),
            _ => (&[], 0),
        };
        let mut wanted = Types::default();
        for (location, declared) in declared.iter().enumerate().filter(|(n, _)| used >> n & 1 != 0) {
            let asked = types.get(location);
            let kind = if asked == AttributeType::Infer { *declared } else { asked };
            let copy = self.interface.one_colour && location > 0;
            differs |= copy || kind != *declared;
            wanted.set(location, kind);
        }
        if !differs {
            return Some(Arc::clone(&self.shader));
        }
        if let Some(made) = self.variants.lock().get(&(wanted, extras)) {
            return made.clone();
        }
        // Translating and compiling give the GPU nothing: a suspend does not wait for them (B234).
        let variant = driver.scheduler.outside(|| self.variant(driver, wanted, extras));
        self.variants.lock().entry((wanted, extras)).or_insert(variant).clone()
    }

    /// Makes the shader for these types and extras.
    fn variant(&self, driver: &Driver, types: Types, extras: Extras) -> Option<Arc<Shader>> {
        driver.counters.shader_variants.fetch_add(1, Ordering::Relaxed);
        let program = GuestProgram::parse(&self.control, &self.code).ok()?;
        let mut options = options(driver, self.layout);
        for location in 0..32 {
            options.attribute_types[location] = types.get(location);
        }
        for location in 0..8 {
            options.colour_types[location] = types.get(location);
        }
        options.colour_targets = types.told() as u8;
        options.dual_source = extras.contains(Extras::DUAL_SOURCE);
        options.geometry_input = extras.geometry_input().or(self.interface.geometry_input);
        options.alpha_test = extras.contains(Extras::ALPHA_TEST);
        options.point_size = extras.contains(Extras::POINT_SIZE);
        Some(make(driver, &program, &options, self.layout)?.1)
    }
}

/// What `NVNprogram` leads to.
#[derive(Default)]
pub(crate) struct Program {
    /// By NVN stage.
    pub(crate) stages: [Option<Arc<ProgramStage>>; 6],
}

/// Every program of the process.
#[derive(Default)]
pub(crate) struct Programs {
    next: AtomicU64,
    table: RwLock<HashMap<u64, Arc<Program>>>,
}

thread_local! {
    /// Translation keeps its arenas from one program to the next.
    static TRANSLATOR: std::cell::RefCell<Translator> = std::cell::RefCell::new(Translator::new());
}

impl Programs {
    /// A program without shaders; never answers 0.
    pub(crate) fn create(&self) -> u64 {
        let serial = self.next.fetch_add(1, Ordering::Relaxed) + 1;
        self.table.write().insert(serial, Arc::default());
        serial
    }

    pub(crate) fn get(&self, serial: u64) -> Option<Arc<Program>> {
        self.table.read().get(&serial).cloned()
    }

    /// Replaces the program's shaders. False when one of them is no program or cannot be read; one that only
    /// cannot be translated is named, and its draws are left out, as the guest expects success.
    pub(crate) fn set_shaders(&self, driver: &Driver, serial: u64, stages: &[(u64, GuestPtr<u8>)]) -> bool {
        if !self.table.read().contains_key(&serial) {
            fault!(key = serial, "B231", "shaders for program {serial}, which does not exist: refused");
            return false;
        }
        let mut program = Program::default();
        for (address, control) in stages {
            let Some((control, code)) = read(driver, *address, *control) else { return false };
            let parsed = match GuestProgram::parse(&control, &code) {
                Ok(parsed) => parsed,
                Err(e) => {
                    fault!(
                        key = *address,
                        "",
                        "shader at GPU address {address:#x}: {e}; nvnProgramSetShaders answers false"
                    );
                    return false;
                }
            };
            if let Some(stage) = translate(driver, serial, &parsed, control.clone(), code.clone()) {
                let slot = nvn_stage(stage.stage);
                program.stages[slot] = Some(Arc::new(stage));
            }
        }
        self.table.write().insert(serial, Arc::new(program));
        true
    }

    /// The program is gone for every submission after `newest`; those before may be replayed yet.
    pub(crate) fn finalized(&self, serial: u64, newest: u64) {
        if let Some(program) = self.get(serial) {
            for stage in program.stages.iter().flatten() {
                stage.finalized.store(newest, Ordering::Release);
            }
        }
    }

    /// Nothing can name the program any more.
    pub(crate) fn remove(&self, serial: u64) {
        self.table.write().remove(&serial);
    }

    /// A program in words, for the watchdog (B235): its stages with the keys under which `dump_shaders` writes them.
    pub(crate) fn describe(&self, driver: &Driver, serial: u64) -> String {
        let Some(program) = self.get(serial) else { return format!("program {serial} (finalized)") };
        let stages = program.stages.iter().flatten().map(|stage| {
            let endless = if stage.endless(driver) { ", WHICH HAS A LOOP WITHOUT AN EXIT" } else { "" };
            format!("{} {:016x}{endless}", stage.stage, stage.key)
        });
        format!("program {serial} ({})", stages.collect::<Vec<_>>().join(", "))
    }

    /// Live programs.
    pub(crate) fn len(&self) -> usize {
        self.table.read().len()
    }
}

/// A program without shaders; 0 without a device.
pub(crate) fn create() -> u64 {
    driver::get().map_or(0, |driver| driver.programs.create())
}

/// Gives a program its shaders: GPU address of the code and guest address of the control section of each.
pub(crate) fn set_shaders(serial: u64, stages: &[(u64, GuestPtr<u8>)]) -> bool {
    driver::get().is_some_and(|driver| driver.programs.set_shaders(driver, serial, stages))
}

pub(crate) fn destroy(serial: u64) {
    if let Some(driver) = driver::get() {
        let newest = driver.post_later(Box::new(move |replayer| replayer.release_program(serial)));
        driver.programs.finalized(serial, newest);
    }
}

/// NVN's number of a stage.
pub(crate) fn nvn_stage(stage: navin_shader::Stage) -> usize {
    match stage {
        navin_shader::Stage::Vertex => 0,
        navin_shader::Stage::Fragment => 1,
        navin_shader::Stage::Geometry => 2,
        navin_shader::Stage::TessControl => 3,
        navin_shader::Stage::TessEvaluation => 4,
        navin_shader::Stage::Compute => 5,
    }
}

pub(crate) fn vulkan_stage(stage: navin_shader::Stage) -> navin_vulkan::Stage {
    match stage {
        navin_shader::Stage::Vertex => navin_vulkan::Stage::Vertex,
        navin_shader::Stage::Fragment => navin_vulkan::Stage::Fragment,
        navin_shader::Stage::Geometry => navin_vulkan::Stage::Geometry,
        navin_shader::Stage::TessControl => navin_vulkan::Stage::TessControl,
        navin_shader::Stage::TessEvaluation => navin_vulkan::Stage::TessEvaluation,
        navin_shader::Stage::Compute => navin_vulkan::Stage::Compute,
    }
}

/// Copies a shader's control section and code out of guest memory: the guest may reuse both after the call.
fn read(driver: &Driver, address: u64, control: GuestPtr<u8>) -> Option<(Bytes, Bytes)> {
    let control_bytes = control.host();
    if control_bytes.is_null() {
        fault!(
            key = address,
            "",
            "shader at GPU address {address:#x} has no control section; nvnProgramSetShaders answers false"
        );
        return None;
    }
    // SAFETY: the guest's call promises a control section behind a pointer that is not null; its size is fixed.
    let control = unsafe { std::slice::from_raw_parts(control_bytes, CONTROL_BYTES) }.to_vec().into_boxed_slice();
    let size = match navin_shader::code_size(&control) {
        Ok(size) => size,
        Err(e) => {
            fault!(
                key = address,
                "",
                "control section of the shader at GPU address {address:#x}: {e}; nvnProgramSetShaders answers false"
            );
            return None;
        }
    };
    let Some(memory) = driver.pools.cpu_range(address, size as u64) else {
        fault!(
            key = address,
            "",
            "shader code at GPU address {address:#x}, {size} bytes, is in no memory pool; nvnProgramSetShaders answers false"
        );
        return None;
    };
    // SAFETY: `cpu_range` gives a range inside a live pool's storage, which the guest keeps mapped for the call.
    let code = unsafe { std::slice::from_raw_parts(memory.as_ptr(), size) }.to_vec().into_boxed_slice();
    Some((control, code))
}

/// Which constant layout a program was compiled for (`facts/nvn_driver_constants.md`).
fn layout_of(driver: &Driver, control: &[u8]) -> ConstantLayout {
    use crate::config::ConstantLayoutChoice as Choice;
    match driver.config.constant_layout {
        Choice::Production => ConstantLayout::Production,
        Choice::Corpus => ConstantLayout::Corpus,
        Choice::Auto => ConstantLayout::detect(control),
    }
}

fn options(driver: &Driver, layout: &'static ConstantLayoutTable) -> Options {
    let (features, limits) = (driver.context.features(), driver.context.limits());
    let mut options = Options::new(ConstantLayout::Production);
    options.layout = layout;
    options.subgroup_size = limits.subgroup_size;
    options.loop_limit = driver.config.loop_limit;
    options.max_groups = limits.max_groups;
    // Programs of one colour have a variant for more targets.
    options.colour_targets = 1;
    // Images without a format are required of every device.
    options.features = DeviceFeatures::FORMATLESS_IMAGES;
    let floats = limits.float_controls;
    for (feature, has) in [
        (DeviceFeatures::FLOAT64, features.float64),
        (DeviceFeatures::INT64, features.int64),
        (DeviceFeatures::ATOMIC_INT64, features.int64 && features.int64_atomics),
        (DeviceFeatures::OUTPUT_LAYER, features.vertex_layer),
        (DeviceFeatures::SAMPLE_SHADING, features.sample_shading),
        (DeviceFeatures::ORDERED_ZEROS, driver.context.orders_zeros()),
        (DeviceFeatures::FLUSH_DENORMS, floats.flush_denorms32),
        (DeviceFeatures::PRESERVE_DENORMS, floats.preserve_denorms32),
        (DeviceFeatures::PRESERVE_NAN, floats.preserve_nan32),
        (DeviceFeatures::PRESERVE_NAN64, floats.preserve_nan64),
    ] {
        options.features.set(feature, has);
    }
    options
}

fn translate(
    driver: &Driver,
    serial: u64,
    program: &GuestProgram<'_>,
    control: Box<[u8]>,
    code: Box<[u8]>,
) -> Option<ProgramStage> {
    let layout = layout_of(driver, &control).table();
    let options = options(driver, layout);
    let (interface, shader) = make(driver, program, &options, layout)?;
    let constants = (!program.constants.is_empty() && interface.constant_banks & 2 != 0)
        .then(|| constant_buffer(driver, program.constants))
        .flatten();
    Some(ProgramStage {
        serial,
        key: program.key,
        stage: program.stage,
        interface,
        layout,
        constants,
        finalized: AtomicU64::new(u64::MAX),
        shader,
        control,
        code,
        variants: Mutex::default(),
    })
}

fn constant_buffer(driver: &Driver, constants: &[u8]) -> Option<Buffer> {
    // Ranges are bound in multiples of 16 bytes.
    let size = constants.len().next_multiple_of(256) as u64;
    match Buffer::new(&driver.context, size, MemoryKind::Upload, "program constants") {
        Ok(buffer) => {
            buffer.write(0, constants);
            Some(buffer)
        }
        Err(e) => {
            fault!("", "no memory for a program's constants ({e}): they read 0");
            None
        }
    }
}

/// Stores to attributes that the program's stage has not are dropped: each address is said once (B513).
fn say_dropped(program: &GuestProgram<'_>, addresses: &[u32]) {
    static SAID: [AtomicU64; 4] = [const { AtomicU64::new(0) }; 4];
    for &address in addresses {
        let (word, bit) = (address as usize / 4, 1 << (address / 4 % 64));
        if SAID[(word / 64) & 3].fetch_or(bit, Ordering::Relaxed) & bit == 0 {
            tracing::debug!(
                "attribute offset {address:#x} is not valid: stores to it are dropped (first by program {:016x}) [B513]",
                program.key
            );
        }
    }
}

/// Translates and compiles; names what cannot be done once for each program.
fn make(
    driver: &Driver,
    program: &GuestProgram<'_>,
    options: &Options,
    layout: &'static ConstantLayoutTable,
) -> Option<(Interface, Arc<Shader>)> {
    let translation = match TRANSLATOR.with_borrow_mut(|translator| translator.translate(program, options)) {
        Ok(translation) => translation,
        Err(e) => {
            fault!(key = program.key, "", "{e}; draws with this program are left out");
            return None;
        }
    };
    driver.counters.programs_translated.fetch_add(1, Ordering::Relaxed);
    if let Some(folder) = &driver.config.dump_shaders {
        dump(folder, program, &translation.spirv);
    }
    let interface = translation.interface;
    let lacks = requirements::missing(
        interface.requirements,
        vulkan_stage(program.stage),
        driver.context.features(),
        driver.context.limits(),
    );
    if !lacks.is_empty() {
        let tried = requirements::LANES.contains(lacks);
        fault!(
            key = program.key,
            "",
            "{} program {:016x} needs {}, which the device does not promise; {}",
            program.stage,
            program.key,
            requirements::names(lacks),
            if tried { "it is tried all the same" } else { "draws with it are left out" }
        );
        if !tried {
            return None;
        }
    }
    say_dropped(program, &interface.dropped_outputs);
    if interface.uses_page_table {
        driver.pools.exposed.walk();
    }
    let stage = vulkan_stage(program.stage);
    let class = |kind| match kind {
        AttributeType::Sint => InputClass::Sint,
        AttributeType::Uint => InputClass::Uint,
        AttributeType::Float | AttributeType::Infer => InputClass::Float,
    };
    let vertex_inputs = match stage {
        navin_vulkan::Stage::Vertex => (0..32u8)
            .filter(|n| interface.inputs >> n & 1 != 0)
            .map(|n| (n, class(interface.input_types[usize::from(n)])))
            .collect(),
        _ => Default::default(),
    };
    let label = format!("{} {:016x} ({})", program.stage, program.key, layout.name);
    let desc = ShaderDesc {
        stage,
        spirv: &translation.spirv,
        next_stages: ShaderDesc::any_next(stage),
        interface: navin_vulkan::Interface {
            constant_banks: interface.constant_banks,
            storage_slots: interface.storage_slots as u16,
            vertex_inputs,
        },
        label: &label,
    };
    match Shader::new(&driver.context, &desc) {
        Ok(shader) => Some((interface, shader)),
        Err(e) => {
            fault!(key = program.key, "", "program {:016x}: {e}; draws with this program are left out", program.key);
            None
        }
    }
}

/// Writes what a program became beside its listing, for whoever looks into one (`dump_shaders`).
fn dump(folder: &std::path::Path, program: &GuestProgram<'_>, spirv: &[u32]) {
    let stem = folder.join(format!("{}-{:016x}", program.stage, program.key));
    let bytes: Vec<u8> = spirv.iter().flat_map(|word| word.to_le_bytes()).collect();
    let written = std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(stem.with_extension("spv"), bytes))
        .and_then(|()| std::fs::write(stem.with_extension("sass"), navin_shader::disassemble(program, None)));
    if let Err(e) = written {
        tracing::warn!("dump_shaders: {}: {e}", stem.display());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_keep_each_location_apart() {
        let mut types = Types::default();
        types.set(0, AttributeType::Uint);
        types.set(31, AttributeType::Sint);
        types.set(31, AttributeType::Float);
        assert_eq!(types.get(0), AttributeType::Uint);
        assert_eq!(types.get(1), AttributeType::Infer);
        assert_eq!(types.get(31), AttributeType::Float);
    }
}

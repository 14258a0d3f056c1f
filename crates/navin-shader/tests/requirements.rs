//! What a module declares, its interface lists: whoever makes a device from the interface has all that the module needs.

#![allow(missing_docs)]

mod common;

use navin_shader::{DeviceFeatures, GuestProgram, Requirements as R, Translator};

/// Requirements of which one, or none, must be listed with a SPIR-V capability.
fn wanted(capability: u32) -> R {
    match capability {
        // Shader, demotion, sampled and storage texel buffers, 1D, queries, derivatives: Vulkan 1.3 has them.
        1 | 43 | 44 | 46 | 47 | 50 | 51 | 5379 => R::empty(),
        // Interpolation functions are part of sample shading; non-uniform indexing says which by its own capability.
        5301 => R::empty(),
        2 => R::GEOMETRY,
        3 => R::TESSELLATION,
        10 => R::FLOAT64,
        11 => R::INT64 | R::ATOMIC_INT64,
        12 => R::ATOMIC_INT64,
        23 | 24 => R::POINT_SIZE,
        25 => R::GATHER_EXTENDED,
        29 => R::TEXTURE_INDEXING,
        31 => R::IMAGE_INDEXING,
        32 => R::CLIP_DISTANCE,
        35 | 52 => R::SAMPLE_SHADING,
        45 => R::CUBE_ARRAY,
        27 | 48 => R::IMAGE_MULTISAMPLE,
        55 => R::IMAGE_READ_FORMATLESS,
        56 => R::IMAGE_WRITE_FORMATLESS,
        57 => R::MULTI_VIEWPORT,
        61 => R::SUBGROUP_BASIC | R::SUBGROUP_QUAD | R::SUBGROUP_VOTE | R::SUBGROUP_BALLOT | R::SUBGROUP_SHUFFLE,
        62 => R::SUBGROUP_VOTE,
        64 => R::SUBGROUP_BALLOT,
        65 => R::SUBGROUP_SHUFFLE,
        68 => R::SUBGROUP_QUAD,
        69 => R::OUTPUT_LAYER,
        70 => R::OUTPUT_VIEWPORT,
        4427 => R::DRAW_PARAMETERS,
        4464 => R::PRESERVE_DENORMS,
        4465 => R::FLUSH_DENORMS,
        4466 => R::PRESERVE_NAN | R::PRESERVE_NAN64,
        5304 | 5305 => R::TEXEL_BUFFER_INDEXING,
        5307 => R::TEXTURE_NON_UNIFORM,
        5309 => R::IMAGE_NON_UNIFORM,
        5347 => R::DEVICE_ADDRESS,
        other => panic!("capability {other} has no requirement in the interface"),
    }
}

#[test]
fn every_capability_of_a_module_is_a_requirement_of_its_interface() {
    let mut translator = Translator::new();
    let mut seen = 0;
    for program in common::programs() {
        let Ok(guest) = GuestProgram::parse(&program.control, &program.code) else { continue };
        let mut options = program.options.clone();
        options.features = DeviceFeatures::all();
        let Ok(translation) = translator.translate(&guest, &options) else { continue };
        let mut at = 5;
        while translation.spirv[at] == 2 << 16 | 17 {
            let capability = translation.spirv[at + 1];
            let want = wanted(capability);
            assert!(
                want.is_empty() || translation.interface.requirements.intersects(want),
                "{}: capability {capability}, but {:?}",
                program.name,
                translation.interface.requirements
            );
            seen += 1;
            at += 2;
        }
    }
    assert!(seen > 500, "{seen} capabilities");
}

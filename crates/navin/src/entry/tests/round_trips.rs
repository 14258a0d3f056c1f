//! B423: what a setter takes, its getter gives back; so does SetDefaults. Every scalar pair of the API is here.

use std::collections::HashSet;

use navin_abi::functions::FUNCTIONS;
use navin_abi::sizes;
use navin_abi::types::*;

use super::{Guarded, call};

/// A pair of functions: the setter's values come back, and the default is `default`.
macro_rules! pairs {
    ($( $object:ident, $size:ident, $defaults:ident: { $( $set:ident($make:expr) -> $get:ident, default $default:expr, [$($value:expr),+]; )+ } )+) => {
        /// The setters tested here.
        const TESTED: &[&str] = &[$($(stringify!($set),)+)+];

        #[test]
        fn b423_every_scalar_setter_has_a_getter_that_agrees() {
            $({
                let mut object = Guarded::new(sizes::$size, 0xcc);
                call!($defaults(object.at::<$object>()));
                $(
                    let make = $make;
                    assert_eq!(call!($get(object.at::<$object>())), make($default), "{} after SetDefaults", stringify!($get));
                    for value in [$($value),+] {
                        call!($set(object.at::<$object>(), make(value)));
                        assert_eq!(call!($get(object.at::<$object>())), make(value), stringify!($get));
                    }
                )+
                // Later setters left earlier fields alone.
                $({
                    let make = $make;
                    let last = [$($value),+].last().copied().expect("a value");
                    assert_eq!(call!($get(object.at::<$object>())), make(last), "{} at the end", stringify!($get));
                })+
                assert!(object.is_intact());
            })+
        }
    };
}

fn same<T>(value: T) -> T {
    value
}

fn at<T>(address: usize) -> *mut T {
    address as *mut T
}

pairs! {
    NVNblendState, MIN_NVNBLENDSTATE, nvnBlendStateSetDefaults: {
        nvnBlendStateSetBlendTarget(same) -> nvnBlendStateGetBlendTarget, default 0, [7, 1];
        nvnBlendStateSetAdvancedMode(NVNblendAdvancedMode) -> nvnBlendStateGetAdvancedMode, default 0, [50, 5];
        nvnBlendStateSetAdvancedOverlap(NVNblendAdvancedOverlap) -> nvnBlendStateGetAdvancedOverlap, default 0, [2, 1];
        nvnBlendStateSetAdvancedPremultipliedSrc(same) -> nvnBlendStateGetAdvancedPremultipliedSrc, default 1, [0, 1];
        nvnBlendStateSetAdvancedNormalizedDst(same) -> nvnBlendStateGetAdvancedNormalizedDst, default 0, [1, 0, 1];
    }
    NVNcolorState, MIN_NVNCOLORSTATE, nvnColorStateSetDefaults: {
        nvnColorStateSetLogicOp(NVNlogicOp) -> nvnColorStateGetLogicOp, default 3, [0, 15, 6];
        nvnColorStateSetAlphaTest(NVNalphaFunc) -> nvnColorStateGetAlphaTest, default 8, [1, 7];
    }
    NVNdepthStencilState, MIN_NVNDEPTHSTENCILSTATE, nvnDepthStencilStateSetDefaults: {
        nvnDepthStencilStateSetDepthTestEnable(same) -> nvnDepthStencilStateGetDepthTestEnable, default 0, [1, 0, 1];
        nvnDepthStencilStateSetDepthWriteEnable(same) -> nvnDepthStencilStateGetDepthWriteEnable, default 1, [0];
        nvnDepthStencilStateSetDepthFunc(NVNdepthFunc) -> nvnDepthStencilStateGetDepthFunc, default 2, [1, 8, 4];
        nvnDepthStencilStateSetStencilTestEnable(same) -> nvnDepthStencilStateGetStencilTestEnable, default 0, [1];
    }
    NVNpolygonState, MIN_NVNPOLYGONSTATE, nvnPolygonStateSetDefaults: {
        nvnPolygonStateSetCullFace(NVNface) -> nvnPolygonStateGetCullFace, default 0, [1, 2, 3, 0, 2];
        nvnPolygonStateSetFrontFace(NVNfrontFace) -> nvnPolygonStateGetFrontFace, default 1, [0, 1, 0];
        nvnPolygonStateSetPolygonMode(NVNpolygonMode) -> nvnPolygonStateGetPolygonMode, default 2, [0, 1];
        nvnPolygonStateSetPolygonOffsetEnables(NVNpolygonOffsetEnable) -> nvnPolygonStateGetPolygonOffsetEnables,
            default 0, [7, 1, 6];
    }
    NVNmultisampleState, MIN_NVNMULTISAMPLESTATE, nvnMultisampleStateSetDefaults: {
        nvnMultisampleStateSetMultisampleEnable(same) -> nvnMultisampleStateGetMultisampleEnable, default 1, [0, 1];
        nvnMultisampleStateSetSamples(same) -> nvnMultisampleStateGetSamples, default 1, [8, 4, 0, 2];
        nvnMultisampleStateSetRasterSamples(same) -> nvnMultisampleStateGetRasterSamples, default 0, [8, 4];
        nvnMultisampleStateSetAlphaToCoverageEnable(same) -> nvnMultisampleStateGetAlphaToCoverageEnable, default 0, [1];
        nvnMultisampleStateSetAlphaToCoverageDither(same) -> nvnMultisampleStateGetAlphaToCoverageDither, default 1, [0];
        nvnMultisampleStateSetCoverageModulationMode(NVNcoverageModulationMode)
            -> nvnMultisampleStateGetCoverageModulationMode, default 0, [3, 1];
        nvnMultisampleStateSetCoverageToColorEnable(same) -> nvnMultisampleStateGetCoverageToColorEnable, default 0, [1];
        nvnMultisampleStateSetCoverageToColorOutput(same) -> nvnMultisampleStateGetCoverageToColorOutput, default 0, [7, 3];
        nvnMultisampleStateSetSampleLocationsEnable(same) -> nvnMultisampleStateGetSampleLocationsEnable, default 0, [1];
        nvnMultisampleStateSetSampleLocationsGridEnable(same)
            -> nvnMultisampleStateGetSampleLocationsGridEnable, default 0, [1];
    }
    NVNvertexAttribState, MIN_NVNVERTEXATTRIBSTATE, nvnVertexAttribStateSetDefaults: {
        nvnVertexAttribStateSetStreamIndex(same) -> nvnVertexAttribStateGetStreamIndex, default 0, [31, 15];
    }
    NVNvertexStreamState, MIN_NVNVERTEXSTREAMSTATE, nvnVertexStreamStateSetDefaults: {
        nvnVertexStreamStateSetStride(same) -> nvnVertexStreamStateGetStride, default 0, [2048, 12];
        nvnVertexStreamStateSetDivisor(same) -> nvnVertexStreamStateGetDivisor, default 0, [1, 1000];
    }
    NVNsamplerBuilder, MIN_NVNSAMPLERBUILDER, nvnSamplerBuilderSetDefaults: {
        nvnSamplerBuilderSetLodBias(same) -> nvnSamplerBuilderGetLodBias, default 0.0, [-1.5, 0.25];
        nvnSamplerBuilderSetLodSnap(same) -> nvnSamplerBuilderGetLodSnap, default 0.0, [0.5];
        nvnSamplerBuilderSetMaxAnisotropy(same) -> nvnSamplerBuilderGetMaxAnisotropy, default 1.0, [16.0, 2.0];
        nvnSamplerBuilderSetReductionFilter(NVNsamplerReduction) -> nvnSamplerBuilderGetReductionFilter, default 0, [2, 1];
    }
    NVNtextureBuilder, MIN_NVNTEXTUREBUILDER, nvnTextureBuilderSetDefaults: {
        nvnTextureBuilderSetFlags(NVNtextureFlags) -> nvnTextureBuilderGetFlags, default 0, [0x7ff, 4];
        nvnTextureBuilderSetTarget(NVNtextureTarget) -> nvnTextureBuilderGetTarget, default 1, [10, 0, 4];
        nvnTextureBuilderSetFormat(NVNformat) -> nvnTextureBuilderGetFormat, default 0, [156, 37];
        nvnTextureBuilderSetWidth(same) -> nvnTextureBuilderGetWidth, default 1, [16384, 640];
        nvnTextureBuilderSetHeight(same) -> nvnTextureBuilderGetHeight, default 1, [16384, 480];
        nvnTextureBuilderSetDepth(same) -> nvnTextureBuilderGetDepth, default 1, [2048, 6];
        nvnTextureBuilderSetLevels(same) -> nvnTextureBuilderGetLevels, default 1, [15, 3];
        nvnTextureBuilderSetSamples(same) -> nvnTextureBuilderGetSamples, default 1, [0, 8];
        nvnTextureBuilderSetDepthStencilMode(NVNtextureDepthStencilMode)
            -> nvnTextureBuilderGetDepthStencilMode, default 0, [1];
        nvnTextureBuilderSetStride(same) -> nvnTextureBuilderGetStride, default 0, [2560];
        nvnTextureBuilderSetGLTextureName(same) -> nvnTextureBuilderGetGLTextureName, default 0, [u32::MAX, 5];
        nvnTextureBuilderSetPackagedTextureData(|v| at::<core::ffi::c_void>(v).cast_const())
            -> nvnTextureBuilderGetPackagedTextureData, default 0, [0x1234];
    }
    NVNmemoryPoolBuilder, MIN_NVNMEMORYPOOLBUILDER, nvnMemoryPoolBuilderSetDefaults: {
        nvnMemoryPoolBuilderSetFlags(NVNmemoryPoolFlags) -> nvnMemoryPoolBuilderGetFlags, default 0x22, [0x21, 0x2a1];
    }
    NVNqueueBuilder, MIN_NVNQUEUEBUILDER, nvnQueueBuilderSetDefaults: {
        nvnQueueBuilderSetQueuePriority(NVNqueuePriority) -> nvnQueueBuilderGetQueuePriority, default 100, [1000, 10];
    }
    NVNwindowBuilder, MIN_NVNWINDOWBUILDER, nvnWindowBuilderSetDefaults: {
        nvnWindowBuilderSetNativeWindow(at) -> nvnWindowBuilderGetNativeWindow, default 0, [0x99];
        nvnWindowBuilderSetPresentInterval(same) -> nvnWindowBuilderGetPresentInterval, default 1, [0, 5, 2];
    }
}

/// The setters whose values come back through pointers, or whose getter has another type: tested below and in the
/// objects' own tests.
const TESTED_ALONE: &[&str] = &[
    "nvnBlendStateSetBlendEquation",
    "nvnBlendStateSetBlendFunc",
    "nvnBufferBuilderSetDevice",
    "nvnChannelMaskStateSetChannelMask",
    "nvnColorStateSetBlendEnable",
    "nvnDepthStencilStateSetStencilFunc",
    "nvnDepthStencilStateSetStencilOp",
    "nvnDeviceBuilderSetFlags",
    "nvnEventBuilderSetStorage",
    "nvnMemoryPoolBuilderSetDevice",
    "nvnQueueBuilderSetCommandFlushThreshold",
    "nvnQueueBuilderSetCommandMemorySize",
    "nvnQueueBuilderSetComputeMemorySize",
    "nvnQueueBuilderSetControlMemorySize",
    "nvnQueueBuilderSetDevice",
    "nvnQueueBuilderSetFlags",
    "nvnQueueBuilderSetRayTracingMemorySize",
    "nvnSamplerBuilderSetBorderColor",
    "nvnSamplerBuilderSetBorderColori",
    "nvnSamplerBuilderSetBorderColorui",
    "nvnSamplerBuilderSetCompare",
    "nvnSamplerBuilderSetDevice",
    "nvnSamplerBuilderSetLodClamp",
    "nvnSamplerBuilderSetMinMagFilter",
    "nvnSamplerBuilderSetWrapMode",
    "nvnTextureBuilderSetDevice",
    "nvnTextureBuilderSetPackagedTextureLayout",
    "nvnTextureBuilderSetSwizzle",
    "nvnTextureViewSetDepthStencilMode",
    "nvnTextureViewSetFormat",
    "nvnTextureViewSetLayers",
    "nvnTextureViewSetLevels",
    "nvnTextureViewSetSwizzle",
    "nvnTextureViewSetTarget",
    "nvnVertexAttribStateSetFormat",
    "nvnWindowBuilderSetDevice",
];

#[test]
fn b423_no_pair_of_the_api_is_left_out() {
    let names: HashSet<&str> = FUNCTIONS.iter().map(|f| f.name).collect();
    let tested: HashSet<&str> = TESTED.iter().chain(TESTED_ALONE).copied().collect();
    let packed = |name: &&str| ["State", "Builder", "View"].iter().any(|kind| name.contains(kind));
    for setter in names.iter().filter(|name| name.contains("Set") && packed(name)) {
        let has_getter = names.contains(setter.replacen("Set", "Get", 1).as_str());
        assert!(!has_getter || tested.contains(setter), "{setter} has a getter and no test");
    }
}

/// A guest's out-parameter.
fn out<T: Default>() -> T {
    T::default()
}

#[test]
fn b423_blend_equation_and_functions() {
    let mut blend = Guarded::new(sizes::MIN_NVNBLENDSTATE, 0xcc);
    call!(nvnBlendStateSetDefaults(blend.at()));
    let equation = [NVNblendEquation::MAX, NVNblendEquation::REVERSE_SUB];
    let func = [16, 100, 97, 1].map(NVNblendFunc);
    call!(nvnBlendStateSetBlendEquation(blend.at(), equation[0], equation[1]));
    call!(nvnBlendStateSetBlendFunc(blend.at(), func[0], func[1], func[2], func[3]));
    let mut e = [out::<NVNblendEquation>(); 2];
    let mut f = [out::<NVNblendFunc>(); 4];
    let [rgb, alpha] = &mut e;
    call!(nvnBlendStateGetBlendEquation(blend.at(), rgb, alpha));
    let [source, destination, source_alpha, destination_alpha] = &mut f;
    call!(nvnBlendStateGetBlendFunc(blend.at(), source, destination, source_alpha, destination_alpha));
    assert_eq!((e, f), (equation, func));
    // A null out-parameter is left out, the others are written.
    let null = std::ptr::null_mut();
    let mut only = out::<NVNblendFunc>();
    call!(nvnBlendStateGetBlendFunc(blend.at(), null, null, null, &raw mut only));
    assert_eq!(only, func[3]);
}

#[test]
fn b423_channel_masks_and_blend_enables_of_every_target() {
    let mut mask = Guarded::new(sizes::MIN_NVNCHANNELMASKSTATE, 0);
    let mut color = Guarded::new(sizes::MIN_NVNCOLORSTATE, 0);
    call!(nvnChannelMaskStateSetDefaults(mask.at()));
    call!(nvnColorStateSetDefaults(color.at()));
    let read = |mask: &mut Guarded, index| {
        let mut rgba = [9u8; 4];
        let [r, g, b, a] = &mut rgba;
        call!(nvnChannelMaskStateGetChannelMask(mask.at(), index, r, g, b, a));
        rgba
    };
    for index in 0..8 {
        assert_eq!(read(&mut mask, index), [1; 4]);
        assert_eq!(call!(nvnColorStateGetBlendEnable(color.at(), index)), 0);
    }
    for index in 0..8 {
        call!(nvnChannelMaskStateSetChannelMask(mask.at(), index, 1, 0, (index % 2) as u8, 0));
        call!(nvnColorStateSetBlendEnable(color.at(), index, (index % 2) as u8));
    }
    for index in 0..8 {
        assert_eq!(read(&mut mask, index), [1, 0, (index % 2) as u8, 0]);
        assert_eq!(call!(nvnColorStateGetBlendEnable(color.at(), index)), (index % 2) as u8);
    }
    for bad in [8, -1, i32::MAX] {
        call!(nvnColorStateSetBlendEnable(color.at(), bad, 1));
        assert_eq!(call!(nvnColorStateGetBlendEnable(color.at(), bad)), 0);
    }
}

#[test]
fn b423_stencil_faces_are_apart() {
    let mut object = Guarded::new(sizes::MIN_NVNDEPTHSTENCILSTATE, 0);
    call!(nvnDepthStencilStateSetDefaults(object.at()));
    let op = NVNstencilOp;
    call!(nvnDepthStencilStateSetStencilFunc(object.at(), NVNface::FRONT_AND_BACK, NVNstencilFunc::EQUAL));
    call!(nvnDepthStencilStateSetStencilFunc(object.at(), NVNface::BACK, NVNstencilFunc::NEVER));
    call!(nvnDepthStencilStateSetStencilOp(object.at(), NVNface::FRONT, op(8), op(7), op(6)));
    call!(nvnDepthStencilStateSetStencilOp(object.at(), NVNface::BACK, op(2), op(3), op(4)));
    call!(nvnDepthStencilStateSetStencilOp(object.at(), NVNface::NONE, op(5), op(5), op(5)));
    let read = |object: &mut Guarded, face| {
        let mut ops = [out::<NVNstencilOp>(); 3];
        let [fail, depth_fail, depth_pass] = &mut ops;
        call!(nvnDepthStencilStateGetStencilOp(object.at(), face, fail, depth_fail, depth_pass));
        (call!(nvnDepthStencilStateGetStencilFunc(object.at(), face)), ops)
    };
    assert_eq!(read(&mut object, NVNface::FRONT), (NVNstencilFunc::EQUAL, [8, 7, 6].map(op)));
    assert_eq!(read(&mut object, NVNface::BACK), (NVNstencilFunc::NEVER, [2, 3, 4].map(op)));
}

#[test]
fn b423_sample_locations_and_their_grid() {
    let mut object = Guarded::new(sizes::MIN_NVNMULTISAMPLESTATE, 0);
    call!(nvnMultisampleStateSetDefaults(object.at()));
    call!(nvnMultisampleStateSetSamples(object.at(), 4));
    let (mut w, mut h) = (0, 0);
    call!(nvnMultisampleStateGetSampleLocationsGrid(object.at(), &raw mut w, &raw mut h));
    assert_eq!((w, h), (2, 2));
    call!(nvnMultisampleStateSetSampleLocations(object.at(), 14, 2, [0.25f32, 0.5, 0.75, 0.0].as_ptr()));
    let locations = || bytemuck::pod_read_unaligned::<navin_abi::records::state::MultisampleState>;
    assert_eq!(locations()(object.bytes()).locations()[14..], [[0.25, 0.5], [0.75, 0.0]]);
    // More entries than the table has: refused, and nothing of the guest's array is read.
    call!(nvnMultisampleStateSetSampleLocations(object.at(), 0, 17, std::ptr::dangling()));
    call!(nvnMultisampleStateSetSampleLocations(object.at(), 15, 2, [0.0f32; 4].as_ptr()));
    assert_eq!(locations()(object.bytes()).locations()[15], [0.75, 0.0]);
    assert!(object.is_intact());
}

#[test]
fn b423_vertex_attribute_format_and_offset() {
    let mut attrib = Guarded::new(sizes::MIN_NVNVERTEXATTRIBSTATE, 0xff);
    call!(nvnVertexAttribStateSetDefaults(attrib.at()));
    let read = |attrib: &mut Guarded| {
        let (mut format, mut offset) = (out::<NVNformat>(), -1isize);
        call!(nvnVertexAttribStateGetFormat(attrib.at(), &raw mut format, &raw mut offset));
        (format, offset)
    };
    assert_eq!(read(&mut attrib), (NVNformat::NONE, 0));
    call!(nvnVertexAttribStateSetStreamIndex(attrib.at(), 15));
    call!(nvnVertexAttribStateSetFormat(attrib.at(), NVNformat(156), 0x3fff));
    assert_eq!(read(&mut attrib), (NVNformat(156), 0x3fff));
    call!(nvnVertexAttribStateSetFormat(attrib.at(), NVNformat::R8, -4));
    assert_eq!(read(&mut attrib), (NVNformat(156), 0x3fff), "a negative offset is refused");
    assert_eq!(call!(nvnVertexAttribStateGetStreamIndex(attrib.at())), 15);
}

#[test]
fn b423_flags_whose_getter_answers_an_int() {
    let mut device = Guarded::new(sizes::MIN_NVNDEVICEBUILDER, 0xcc);
    call!(nvnDeviceBuilderSetDefaults(device.at()));
    assert_eq!(call!(nvnDeviceBuilderGetFlags(device.at())), 0);
    call!(nvnDeviceBuilderSetFlags(device.at(), NVNdeviceFlagBits(0x1ff)));
    assert_eq!(call!(nvnDeviceBuilderGetFlags(device.at())), 0x1ff);
    let mut queue = Guarded::new(sizes::MIN_NVNQUEUEBUILDER, 0xcc);
    call!(nvnQueueBuilderSetDefaults(queue.at()));
    call!(nvnQueueBuilderSetFlags(queue.at(), NVNqueueBuilderFlags(3)));
    assert_eq!(call!(nvnQueueBuilderGetFlags(queue.at())), 3);
}

#[test]
fn set_defaults_keeps_the_device_whichever_comes_first() {
    macro_rules! check {
        ($($size:ident: $set_device:ident, $defaults:ident, $get:ident;)*) => {$(
            let mut builder = Guarded::new(sizes::$size, 0xcc);
            call!($set_device(builder.at(), at(0x1000)));
            call!($defaults(builder.at()));
            assert_eq!(call!($get(builder.at())), at::<NVNdevice>(0x1000).cast_const());
            call!($set_device(builder.at(), at(0x2000)));
            assert_eq!(call!($get(builder.at())), at::<NVNdevice>(0x2000).cast_const());
            assert!(builder.is_intact());
        )*};
    }
    check! {
        MIN_NVNBUFFERBUILDER: nvnBufferBuilderSetDevice, nvnBufferBuilderSetDefaults, nvnBufferBuilderGetDevice;
        MIN_NVNMEMORYPOOLBUILDER: nvnMemoryPoolBuilderSetDevice, nvnMemoryPoolBuilderSetDefaults, nvnMemoryPoolBuilderGetDevice;
        MIN_NVNQUEUEBUILDER: nvnQueueBuilderSetDevice, nvnQueueBuilderSetDefaults, nvnQueueBuilderGetDevice;
        MIN_NVNSAMPLERBUILDER: nvnSamplerBuilderSetDevice, nvnSamplerBuilderSetDefaults, nvnSamplerBuilderGetDevice;
        MIN_NVNTEXTUREBUILDER: nvnTextureBuilderSetDevice, nvnTextureBuilderSetDefaults, nvnTextureBuilderGetDevice;
        MIN_NVNWINDOWBUILDER: nvnWindowBuilderSetDevice, nvnWindowBuilderSetDefaults, nvnWindowBuilderGetDevice;
    }
}

#[test]
fn a_builder_without_set_defaults_takes_them_at_its_first_setter() {
    let mut builder = Guarded::new(sizes::MIN_NVNTEXTUREBUILDER, 0xcc);
    let before = navin_abi::fault::count();
    call!(nvnTextureBuilderSetWidth(builder.at(), 64));
    assert!(navin_abi::fault::count() > before);
    assert_eq!(call!(nvnTextureBuilderGetWidth(builder.at())), 64);
    assert_eq!(call!(nvnTextureBuilderGetHeight(builder.at())), 1);
}

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
        nvnTextureBuilderSetPackagedTextureData(|v| at(v).cast_const())
            -> nvnTextureBuilderGetPackagedTextureData, default 0, [0x1234];
    }
    NVNdeviceBuilder, MIN_NVNDEVICEBUILDER, nvnDeviceBuilderSetDefaults: {
        nvnDeviceBuilderSetFlags(flag_bits) -> nvnDeviceBuilderGetFlags, default 0, [0x1ff, 8];
    }
    NVNmemoryPoolBuilder, MIN_NVNMEMORYPOOLBUILDER, nvnMemoryPoolBuilderSetDefaults: {
        nvnMemoryPoolBuilderSetFlags(NVNmemoryPoolFlags) -> nvnMemoryPoolBuilderGetFlags, default 0x22, [0x21, 0x2a1];
    }
    NVNqueueBuilder, MIN_NVNQUEUEBUILDER, nvnQueueBuilderSetDefaults: {
        nvnQueueBuilderSetFlags(queue_flags) -> nvnQueueBuilderGetFlags, default 0, [3, 1];
        nvnQueueBuilderSetQueuePriority(NVNqueuePriority) -> nvnQueueBuilderGetQueuePriority, default 100, [1000, 10];
    }
    NVNwindowBuilder, MIN_NVNWINDOWBUILDER, nvnWindowBuilderSetDefaults: {
        nvnWindowBuilderSetNativeWindow(at) -> nvnWindowBuilderGetNativeWindow, default 0, [0x99];
        nvnWindowBuilderSetPresentInterval(same) -> nvnWindowBuilderGetPresentInterval, default 1, [0, 5, 2];
    }
}

/// `Set` takes the mask's type where `Get` answers an `int`: both are the number.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Flags(i32);

impl PartialEq<Flags> for i32 {
    fn eq(&self, other: &Flags) -> bool {
        *self == other.0
    }
}

fn flag_bits(bits: i32) -> NVNdeviceFlagBits {
    NVNdeviceFlagBits(bits)
}

fn queue_flags(bits: i32) -> NVNqueueBuilderFlags {
    NVNqueueBuilderFlags(bits)
}

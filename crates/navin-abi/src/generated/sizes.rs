// Generated from facts/ by `cargo xtask gen`. Do not edit.

/// Bytes of the smallest `NVNblendState` that any SDK declares.
pub const MIN_NVNBLENDSTATE: usize = 8;
/// Bytes of the largest, which `nvn.h` declares.
pub const MAX_NVNBLENDSTATE: usize = 8;
/// Bytes of the smallest `NVNbuffer` that any SDK declares.
pub const MIN_NVNBUFFER: usize = 48;
/// Bytes of the largest, which `nvn.h` declares.
pub const MAX_NVNBUFFER: usize = 48;
/// Bytes of the smallest `NVNbufferBuilder` that any SDK declares.
pub const MIN_NVNBUFFERBUILDER: usize = 64;
/// Bytes of the largest, which `nvn.h` declares.
pub const MAX_NVNBUFFERBUILDER: usize = 64;
/// Bytes of the smallest `NVNchannelMaskState` that any SDK declares.
pub const MIN_NVNCHANNELMASKSTATE: usize = 4;
/// Bytes of the largest, which `nvn.h` declares.
pub const MAX_NVNCHANNELMASKSTATE: usize = 4;
/// Bytes of the smallest `NVNcolorState` that any SDK declares.
pub const MIN_NVNCOLORSTATE: usize = 4;
/// Bytes of the largest, which `nvn.h` declares.
pub const MAX_NVNCOLORSTATE: usize = 4;
/// Bytes of the smallest `NVNcommandBuffer` that any SDK declares.
pub const MIN_NVNCOMMANDBUFFER: usize = 160;
/// Bytes of the largest, which `nvn.h` declares.
pub const MAX_NVNCOMMANDBUFFER: usize = 160;
/// Bytes of the smallest `NVNdepthStencilState` that any SDK declares.
pub const MIN_NVNDEPTHSTENCILSTATE: usize = 8;
/// Bytes of the largest, which `nvn.h` declares.
pub const MAX_NVNDEPTHSTENCILSTATE: usize = 8;
/// Bytes of the smallest `NVNdevice` that any SDK declares.
pub const MIN_NVNDEVICE: usize = 12288;
/// Bytes of the largest, which `nvn.h` declares.
pub const MAX_NVNDEVICE: usize = 12288;
/// Bytes of the smallest `NVNdeviceBuilder` that any SDK declares.
pub const MIN_NVNDEVICEBUILDER: usize = 64;
/// Bytes of the largest, which `nvn.h` declares.
pub const MAX_NVNDEVICEBUILDER: usize = 64;
/// Bytes of the smallest `NVNevent` that any SDK declares.
pub const MIN_NVNEVENT: usize = 64;
/// Bytes of the largest, which `nvn.h` declares.
pub const MAX_NVNEVENT: usize = 64;
/// Bytes of the smallest `NVNeventBuilder` that any SDK declares.
pub const MIN_NVNEVENTBUILDER: usize = 32;
/// Bytes of the largest, which `nvn.h` declares.
pub const MAX_NVNEVENTBUILDER: usize = 32;
/// Bytes of the smallest `NVNmemoryPool` that any SDK declares.
pub const MIN_NVNMEMORYPOOL: usize = 256;
/// Bytes of the largest, which `nvn.h` declares.
pub const MAX_NVNMEMORYPOOL: usize = 256;
/// Bytes of the smallest `NVNmemoryPoolBuilder` that any SDK declares.
pub const MIN_NVNMEMORYPOOLBUILDER: usize = 64;
/// Bytes of the largest, which `nvn.h` declares.
pub const MAX_NVNMEMORYPOOLBUILDER: usize = 64;
/// Bytes of the smallest `NVNmultisampleState` that any SDK declares.
pub const MIN_NVNMULTISAMPLESTATE: usize = 24;
/// Bytes of the largest, which `nvn.h` declares.
pub const MAX_NVNMULTISAMPLESTATE: usize = 24;
/// Bytes of the smallest `NVNpolygonState` that any SDK declares.
pub const MIN_NVNPOLYGONSTATE: usize = 4;
/// Bytes of the largest, which `nvn.h` declares.
pub const MAX_NVNPOLYGONSTATE: usize = 4;
/// Bytes of the smallest `NVNprogram` that any SDK declares.
pub const MIN_NVNPROGRAM: usize = 112;
/// Bytes of the largest, which `nvn.h` declares.
pub const MAX_NVNPROGRAM: usize = 192;
/// Bytes of the smallest `NVNqueue` that any SDK declares.
pub const MIN_NVNQUEUE: usize = 8192;
/// Bytes of the largest, which `nvn.h` declares.
pub const MAX_NVNQUEUE: usize = 8192;
/// Bytes of the smallest `NVNqueueBuilder` that any SDK declares.
pub const MIN_NVNQUEUEBUILDER: usize = 64;
/// Bytes of the largest, which `nvn.h` declares.
pub const MAX_NVNQUEUEBUILDER: usize = 64;
/// Bytes of the smallest `NVNsampler` that any SDK declares.
pub const MIN_NVNSAMPLER: usize = 48;
/// Bytes of the largest, which `nvn.h` declares.
pub const MAX_NVNSAMPLER: usize = 96;
/// Bytes of the smallest `NVNsamplerBuilder` that any SDK declares.
pub const MIN_NVNSAMPLERBUILDER: usize = 96;
/// Bytes of the largest, which `nvn.h` declares.
pub const MAX_NVNSAMPLERBUILDER: usize = 96;
/// Bytes of the smallest `NVNsamplerPool` that any SDK declares.
pub const MIN_NVNSAMPLERPOOL: usize = 32;
/// Bytes of the largest, which `nvn.h` declares.
pub const MAX_NVNSAMPLERPOOL: usize = 32;
/// Bytes of the smallest `NVNsync` that any SDK declares.
pub const MIN_NVNSYNC: usize = 64;
/// Bytes of the largest, which `nvn.h` declares.
pub const MAX_NVNSYNC: usize = 64;
/// Bytes of the smallest `NVNtexture` that any SDK declares.
pub const MIN_NVNTEXTURE: usize = 128;
/// Bytes of the largest, which `nvn.h` declares.
pub const MAX_NVNTEXTURE: usize = 192;
/// Bytes of the smallest `NVNtextureBuilder` that any SDK declares.
pub const MIN_NVNTEXTUREBUILDER: usize = 128;
/// Bytes of the largest, which `nvn.h` declares.
pub const MAX_NVNTEXTUREBUILDER: usize = 128;
/// Bytes of the smallest `NVNtexturePool` that any SDK declares.
pub const MIN_NVNTEXTUREPOOL: usize = 32;
/// Bytes of the largest, which `nvn.h` declares.
pub const MAX_NVNTEXTUREPOOL: usize = 32;
/// Bytes of the smallest `NVNtextureView` that any SDK declares.
pub const MIN_NVNTEXTUREVIEW: usize = 16;
/// Bytes of the largest, which `nvn.h` declares.
pub const MAX_NVNTEXTUREVIEW: usize = 40;
/// Bytes of the smallest `NVNvertexAttribState` that any SDK declares.
pub const MIN_NVNVERTEXATTRIBSTATE: usize = 4;
/// Bytes of the largest, which `nvn.h` declares.
pub const MAX_NVNVERTEXATTRIBSTATE: usize = 4;
/// Bytes of the smallest `NVNvertexStreamState` that any SDK declares.
pub const MIN_NVNVERTEXSTREAMSTATE: usize = 8;
/// Bytes of the largest, which `nvn.h` declares.
pub const MAX_NVNVERTEXSTREAMSTATE: usize = 8;
/// Bytes of the smallest `NVNwindow` that any SDK declares.
pub const MIN_NVNWINDOW: usize = 384;
/// Bytes of the largest, which `nvn.h` declares.
pub const MAX_NVNWINDOW: usize = 384;
/// Bytes of the smallest `NVNwindowBuilder` that any SDK declares.
pub const MIN_NVNWINDOWBUILDER: usize = 64;
/// Bytes of the largest, which `nvn.h` declares.
pub const MAX_NVNWINDOWBUILDER: usize = 64;

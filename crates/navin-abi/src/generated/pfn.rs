// Generated from facts/ by `cargo xtask gen`. Do not edit.

use crate::types::*;

/// `NVNblendAdvancedMode nvnBlendStateGetAdvancedMode(const NVNblendState* blend)`
pub type nvnBlendStateGetAdvancedMode = unsafe extern "C" fn(blend: *const NVNblendState) -> NVNblendAdvancedMode;

/// `NVNboolean nvnBlendStateGetAdvancedNormalizedDst(const NVNblendState* blend)`
pub type nvnBlendStateGetAdvancedNormalizedDst = unsafe extern "C" fn(blend: *const NVNblendState) -> NVNboolean;

/// `NVNblendAdvancedOverlap nvnBlendStateGetAdvancedOverlap(const NVNblendState* blend)`
pub type nvnBlendStateGetAdvancedOverlap = unsafe extern "C" fn(blend: *const NVNblendState) -> NVNblendAdvancedOverlap;

/// `NVNboolean nvnBlendStateGetAdvancedPremultipliedSrc(const NVNblendState* blend)`
pub type nvnBlendStateGetAdvancedPremultipliedSrc = unsafe extern "C" fn(blend: *const NVNblendState) -> NVNboolean;

/// `void nvnBlendStateGetBlendEquation(const NVNblendState* blend, NVNblendEquation* modeRGB, NVNblendEquation* modeAlpha)`
pub type nvnBlendStateGetBlendEquation = unsafe extern "C" fn(
    blend: *const NVNblendState,
    mode_rgb: *mut NVNblendEquation,
    mode_alpha: *mut NVNblendEquation,
);

/// `void nvnBlendStateGetBlendFunc(const NVNblendState* blend, NVNblendFunc* srcFunc, NVNblendFunc* dstFunc, NVNblendFunc* srcFuncAlpha, NVNblendFunc* dstFuncAlpha)`
pub type nvnBlendStateGetBlendFunc = unsafe extern "C" fn(
    blend: *const NVNblendState,
    src_func: *mut NVNblendFunc,
    dst_func: *mut NVNblendFunc,
    src_func_alpha: *mut NVNblendFunc,
    dst_func_alpha: *mut NVNblendFunc,
);

/// `int nvnBlendStateGetBlendTarget(const NVNblendState* blend)`
pub type nvnBlendStateGetBlendTarget = unsafe extern "C" fn(blend: *const NVNblendState) -> i32;

/// `void nvnBlendStateSetAdvancedMode(NVNblendState* blend, NVNblendAdvancedMode mode)`
pub type nvnBlendStateSetAdvancedMode = unsafe extern "C" fn(blend: *mut NVNblendState, mode: NVNblendAdvancedMode);

/// `void nvnBlendStateSetAdvancedNormalizedDst(NVNblendState* blend, NVNboolean enable)`
pub type nvnBlendStateSetAdvancedNormalizedDst = unsafe extern "C" fn(blend: *mut NVNblendState, enable: NVNboolean);

/// `void nvnBlendStateSetAdvancedOverlap(NVNblendState* blend, NVNblendAdvancedOverlap overlap)`
pub type nvnBlendStateSetAdvancedOverlap =
    unsafe extern "C" fn(blend: *mut NVNblendState, overlap: NVNblendAdvancedOverlap);

/// `void nvnBlendStateSetAdvancedPremultipliedSrc(NVNblendState* blend, NVNboolean enable)`
pub type nvnBlendStateSetAdvancedPremultipliedSrc = unsafe extern "C" fn(blend: *mut NVNblendState, enable: NVNboolean);

/// `void nvnBlendStateSetBlendEquation(NVNblendState* blend, NVNblendEquation modeRGB, NVNblendEquation modeAlpha)`
pub type nvnBlendStateSetBlendEquation =
    unsafe extern "C" fn(blend: *mut NVNblendState, mode_rgb: NVNblendEquation, mode_alpha: NVNblendEquation);

/// `void nvnBlendStateSetBlendFunc(NVNblendState* blend, NVNblendFunc srcFunc, NVNblendFunc dstFunc, NVNblendFunc srcFuncAlpha, NVNblendFunc dstFuncAlpha)`
pub type nvnBlendStateSetBlendFunc = unsafe extern "C" fn(
    blend: *mut NVNblendState,
    src_func: NVNblendFunc,
    dst_func: NVNblendFunc,
    src_func_alpha: NVNblendFunc,
    dst_func_alpha: NVNblendFunc,
);

/// `void nvnBlendStateSetBlendTarget(NVNblendState* blend, int target)`
pub type nvnBlendStateSetBlendTarget = unsafe extern "C" fn(blend: *mut NVNblendState, target: i32);

/// `void nvnBlendStateSetDefaults(NVNblendState* blend)`
pub type nvnBlendStateSetDefaults = unsafe extern "C" fn(blend: *mut NVNblendState);

/// `PFNNVNGENERICFUNCPTRPROC nvnBootstrapLoader(const char* name)`
pub type nvnBootstrapLoader = unsafe extern "C" fn(name: *const core::ffi::c_char) -> PFNNVNGENERICFUNCPTRPROC;

/// `const NVNdevice* nvnBufferBuilderGetDevice(const NVNbufferBuilder* builder)`
pub type nvnBufferBuilderGetDevice = unsafe extern "C" fn(builder: *const NVNbufferBuilder) -> *const NVNdevice;

/// `ptrdiff_t nvnBufferBuilderGetMemoryOffset(const NVNbufferBuilder* builder)`
pub type nvnBufferBuilderGetMemoryOffset = unsafe extern "C" fn(builder: *const NVNbufferBuilder) -> isize;

/// `NVNmemoryPool* nvnBufferBuilderGetMemoryPool(const NVNbufferBuilder* builder)`
pub type nvnBufferBuilderGetMemoryPool = unsafe extern "C" fn(builder: *const NVNbufferBuilder) -> *mut NVNmemoryPool;

/// `size_t nvnBufferBuilderGetSize(const NVNbufferBuilder* builder)`
pub type nvnBufferBuilderGetSize = unsafe extern "C" fn(builder: *const NVNbufferBuilder) -> usize;

/// `void nvnBufferBuilderSetDefaults(NVNbufferBuilder* builder)`
pub type nvnBufferBuilderSetDefaults = unsafe extern "C" fn(builder: *mut NVNbufferBuilder);

/// `void nvnBufferBuilderSetDevice(NVNbufferBuilder* builder, NVNdevice* device)`
pub type nvnBufferBuilderSetDevice = unsafe extern "C" fn(builder: *mut NVNbufferBuilder, device: *mut NVNdevice);

/// `void nvnBufferBuilderSetStorage(NVNbufferBuilder* builder, NVNmemoryPool* pool, ptrdiff_t offset, size_t size)`
pub type nvnBufferBuilderSetStorage =
    unsafe extern "C" fn(builder: *mut NVNbufferBuilder, pool: *mut NVNmemoryPool, offset: isize, size: usize);

/// `void nvnBufferFinalize(NVNbuffer* buffer)`
pub type nvnBufferFinalize = unsafe extern "C" fn(buffer: *mut NVNbuffer);

/// `void nvnBufferFlushMappedRange(const NVNbuffer* buffer, ptrdiff_t offset, size_t size)`
pub type nvnBufferFlushMappedRange = unsafe extern "C" fn(buffer: *const NVNbuffer, offset: isize, size: usize);

/// `NVNbufferAddress nvnBufferGetAddress(const NVNbuffer* buffer)`
pub type nvnBufferGetAddress = unsafe extern "C" fn(buffer: *const NVNbuffer) -> NVNbufferAddress;

/// `uint64_t nvnBufferGetDebugID(const NVNbuffer* buffer)`
pub type nvnBufferGetDebugID = unsafe extern "C" fn(buffer: *const NVNbuffer) -> u64;

/// `ptrdiff_t nvnBufferGetMemoryOffset(const NVNbuffer* buffer)`
pub type nvnBufferGetMemoryOffset = unsafe extern "C" fn(buffer: *const NVNbuffer) -> isize;

/// `NVNmemoryPool* nvnBufferGetMemoryPool(const NVNbuffer* buffer)`
pub type nvnBufferGetMemoryPool = unsafe extern "C" fn(buffer: *const NVNbuffer) -> *mut NVNmemoryPool;

/// `size_t nvnBufferGetSize(const NVNbuffer* buffer)`
pub type nvnBufferGetSize = unsafe extern "C" fn(buffer: *const NVNbuffer) -> usize;

/// `NVNboolean nvnBufferInitialize(NVNbuffer* buffer, const NVNbufferBuilder* builder)`
pub type nvnBufferInitialize =
    unsafe extern "C" fn(buffer: *mut NVNbuffer, builder: *const NVNbufferBuilder) -> NVNboolean;

/// `void nvnBufferInvalidateMappedRange(const NVNbuffer* buffer, ptrdiff_t offset, size_t size)`
pub type nvnBufferInvalidateMappedRange = unsafe extern "C" fn(buffer: *const NVNbuffer, offset: isize, size: usize);

/// `void* nvnBufferMap(const NVNbuffer* buffer)`
pub type nvnBufferMap = unsafe extern "C" fn(buffer: *const NVNbuffer) -> *mut core::ffi::c_void;

/// `void nvnBufferSetDebugLabel(NVNbuffer* buffer, const char* label)`
pub type nvnBufferSetDebugLabel = unsafe extern "C" fn(buffer: *mut NVNbuffer, label: *const core::ffi::c_char);

/// `void nvnChannelMaskStateGetChannelMask(const NVNchannelMaskState* channelMask, int index, NVNboolean* r, NVNboolean* g, NVNboolean* b, NVNboolean* a)`
pub type nvnChannelMaskStateGetChannelMask = unsafe extern "C" fn(
    channel_mask: *const NVNchannelMaskState,
    index: i32,
    r: *mut NVNboolean,
    g: *mut NVNboolean,
    b: *mut NVNboolean,
    a: *mut NVNboolean,
);

/// `void nvnChannelMaskStateSetChannelMask(NVNchannelMaskState* channelMask, int index, NVNboolean r, NVNboolean g, NVNboolean b, NVNboolean a)`
pub type nvnChannelMaskStateSetChannelMask = unsafe extern "C" fn(
    channel_mask: *mut NVNchannelMaskState,
    index: i32,
    r: NVNboolean,
    g: NVNboolean,
    b: NVNboolean,
    a: NVNboolean,
);

/// `void nvnChannelMaskStateSetDefaults(NVNchannelMaskState* channelMask)`
pub type nvnChannelMaskStateSetDefaults = unsafe extern "C" fn(channel_mask: *mut NVNchannelMaskState);

/// `NVNalphaFunc nvnColorStateGetAlphaTest(const NVNcolorState* color)`
pub type nvnColorStateGetAlphaTest = unsafe extern "C" fn(color: *const NVNcolorState) -> NVNalphaFunc;

/// `NVNboolean nvnColorStateGetBlendEnable(const NVNcolorState* color, int index)`
pub type nvnColorStateGetBlendEnable = unsafe extern "C" fn(color: *const NVNcolorState, index: i32) -> NVNboolean;

/// `NVNlogicOp nvnColorStateGetLogicOp(const NVNcolorState* color)`
pub type nvnColorStateGetLogicOp = unsafe extern "C" fn(color: *const NVNcolorState) -> NVNlogicOp;

/// `void nvnColorStateSetAlphaTest(NVNcolorState* color, NVNalphaFunc alphaFunc)`
pub type nvnColorStateSetAlphaTest = unsafe extern "C" fn(color: *mut NVNcolorState, alpha_func: NVNalphaFunc);

/// `void nvnColorStateSetBlendEnable(NVNcolorState* color, int index, NVNboolean enable)`
pub type nvnColorStateSetBlendEnable = unsafe extern "C" fn(color: *mut NVNcolorState, index: i32, enable: NVNboolean);

/// `void nvnColorStateSetDefaults(NVNcolorState* color)`
pub type nvnColorStateSetDefaults = unsafe extern "C" fn(color: *mut NVNcolorState);

/// `void nvnColorStateSetLogicOp(NVNcolorState* color, NVNlogicOp logicOp)`
pub type nvnColorStateSetLogicOp = unsafe extern "C" fn(color: *mut NVNcolorState, logic_op: NVNlogicOp);

/// `void nvnCommandBufferAddCommandMemory(NVNcommandBuffer* cmdBuf, const NVNmemoryPool* pool, ptrdiff_t offset, size_t size)`
pub type nvnCommandBufferAddCommandMemory =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, pool: *const NVNmemoryPool, offset: isize, size: usize);

/// `void nvnCommandBufferAddControlMemory(NVNcommandBuffer* cmdBuf, void* memory, size_t size)`
pub type nvnCommandBufferAddControlMemory =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, memory: *mut core::ffi::c_void, size: usize);

/// `void nvnCommandBufferBarrier(NVNcommandBuffer* cmdBuf, int barrier)`
pub type nvnCommandBufferBarrier = unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, barrier: NVNbarrierBits);

/// `void nvnCommandBufferBeginRecording(NVNcommandBuffer* cmdBuf)`
pub type nvnCommandBufferBeginRecording = unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer);

/// `void nvnCommandBufferBeginTransformFeedback(NVNcommandBuffer* cmdBuf, NVNbufferAddress buffer)`
pub type nvnCommandBufferBeginTransformFeedback =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, buffer: NVNbufferAddress);

/// `void nvnCommandBufferBindBlendState(NVNcommandBuffer* cmdBuf, const NVNblendState* blend)`
pub type nvnCommandBufferBindBlendState =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, blend: *const NVNblendState);

/// `void nvnCommandBufferBindChannelMaskState(NVNcommandBuffer* cmdBuf, const NVNchannelMaskState* channelMask)`
pub type nvnCommandBufferBindChannelMaskState =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, channel_mask: *const NVNchannelMaskState);

/// `void nvnCommandBufferBindColorState(NVNcommandBuffer* cmdBuf, const NVNcolorState* color)`
pub type nvnCommandBufferBindColorState =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, color: *const NVNcolorState);

/// `void nvnCommandBufferBindCoverageModulationTable(NVNcommandBuffer* cmdBuf, const float* table)`
pub type nvnCommandBufferBindCoverageModulationTable =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, table: *const f32);

/// `void nvnCommandBufferBindDepthStencilState(NVNcommandBuffer* cmdBuf, const NVNdepthStencilState* depthStencil)`
pub type nvnCommandBufferBindDepthStencilState =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, depth_stencil: *const NVNdepthStencilState);

/// `void nvnCommandBufferBindImage(NVNcommandBuffer* cmdBuf, NVNshaderStage stage, int index, NVNimageHandle image)`
pub type nvnCommandBufferBindImage =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, stage: NVNshaderStage, index: i32, image: NVNimageHandle);

/// `void nvnCommandBufferBindImages(NVNcommandBuffer* cmdBuf, NVNshaderStage stage, int first, int count, const NVNimageHandle* images)`
pub type nvnCommandBufferBindImages = unsafe extern "C" fn(
    cmd_buf: *mut NVNcommandBuffer,
    stage: NVNshaderStage,
    first: i32,
    count: i32,
    images: *const NVNimageHandle,
);

/// `void nvnCommandBufferBindMultisampleState(NVNcommandBuffer* cmdBuf, const NVNmultisampleState* multisample)`
pub type nvnCommandBufferBindMultisampleState =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, multisample: *const NVNmultisampleState);

/// `void nvnCommandBufferBindPolygonState(NVNcommandBuffer* cmdBuf, const NVNpolygonState* polygon)`
pub type nvnCommandBufferBindPolygonState =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, polygon: *const NVNpolygonState);

/// `void nvnCommandBufferBindProgram(NVNcommandBuffer* cmdBuf, const NVNprogram* program, int stages)`
pub type nvnCommandBufferBindProgram =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, program: *const NVNprogram, stages: NVNshaderStageBits);

/// `void nvnCommandBufferBindSeparateSampler(NVNcommandBuffer* cmdBuf, NVNshaderStage stage, int index, NVNseparateSamplerHandle handle)`
pub type nvnCommandBufferBindSeparateSampler = unsafe extern "C" fn(
    cmd_buf: *mut NVNcommandBuffer,
    stage: NVNshaderStage,
    index: i32,
    handle: NVNseparateSamplerHandle,
);

/// `void nvnCommandBufferBindSeparateSamplers(NVNcommandBuffer* cmdBuf, NVNshaderStage stage, int first, int count, const NVNseparateSamplerHandle* handles)`
pub type nvnCommandBufferBindSeparateSamplers = unsafe extern "C" fn(
    cmd_buf: *mut NVNcommandBuffer,
    stage: NVNshaderStage,
    first: i32,
    count: i32,
    handles: *const NVNseparateSamplerHandle,
);

/// `void nvnCommandBufferBindSeparateTexture(NVNcommandBuffer* cmdBuf, NVNshaderStage stage, int index, NVNseparateTextureHandle handle)`
pub type nvnCommandBufferBindSeparateTexture = unsafe extern "C" fn(
    cmd_buf: *mut NVNcommandBuffer,
    stage: NVNshaderStage,
    index: i32,
    handle: NVNseparateTextureHandle,
);

/// `void nvnCommandBufferBindSeparateTextures(NVNcommandBuffer* cmdBuf, NVNshaderStage stage, int first, int count, const NVNseparateTextureHandle* handles)`
pub type nvnCommandBufferBindSeparateTextures = unsafe extern "C" fn(
    cmd_buf: *mut NVNcommandBuffer,
    stage: NVNshaderStage,
    first: i32,
    count: i32,
    handles: *const NVNseparateTextureHandle,
);

/// `void nvnCommandBufferBindShadingRateImage(NVNcommandBuffer* cmdBuf)` (prototype assumed)
pub type nvnCommandBufferBindShadingRateImage = unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer);

/// `void nvnCommandBufferBindStorageBuffer(NVNcommandBuffer* cmdBuf, NVNshaderStage stage, int index, NVNbufferAddress buffer, size_t size)`
pub type nvnCommandBufferBindStorageBuffer = unsafe extern "C" fn(
    cmd_buf: *mut NVNcommandBuffer,
    stage: NVNshaderStage,
    index: i32,
    buffer: NVNbufferAddress,
    size: usize,
);

/// `void nvnCommandBufferBindStorageBuffers(NVNcommandBuffer* cmdBuf, NVNshaderStage stage, int first, int count, const NVNbufferRange* buffers)`
pub type nvnCommandBufferBindStorageBuffers = unsafe extern "C" fn(
    cmd_buf: *mut NVNcommandBuffer,
    stage: NVNshaderStage,
    first: i32,
    count: i32,
    buffers: *const NVNbufferRange,
);

/// `void nvnCommandBufferBindTexture(NVNcommandBuffer* cmdBuf, NVNshaderStage stage, int index, NVNtextureHandle texture)`
pub type nvnCommandBufferBindTexture =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, stage: NVNshaderStage, index: i32, texture: NVNtextureHandle);

/// `void nvnCommandBufferBindTextures(NVNcommandBuffer* cmdBuf, NVNshaderStage stage, int first, int count, const NVNtextureHandle* textures)`
pub type nvnCommandBufferBindTextures = unsafe extern "C" fn(
    cmd_buf: *mut NVNcommandBuffer,
    stage: NVNshaderStage,
    first: i32,
    count: i32,
    textures: *const NVNtextureHandle,
);

/// `void nvnCommandBufferBindTransformFeedbackBuffer(NVNcommandBuffer* cmdBuf, int index, NVNbufferAddress buffer, size_t size)`
pub type nvnCommandBufferBindTransformFeedbackBuffer =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, index: i32, buffer: NVNbufferAddress, size: usize);

/// `void nvnCommandBufferBindTransformFeedbackBuffers(NVNcommandBuffer* cmdBuf, int first, int count, const NVNbufferRange* buffers)`
pub type nvnCommandBufferBindTransformFeedbackBuffers =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, first: i32, count: i32, buffers: *const NVNbufferRange);

/// `void nvnCommandBufferBindUniformBuffer(NVNcommandBuffer* cmdBuf, NVNshaderStage stage, int index, NVNbufferAddress buffer, size_t size)`
pub type nvnCommandBufferBindUniformBuffer = unsafe extern "C" fn(
    cmd_buf: *mut NVNcommandBuffer,
    stage: NVNshaderStage,
    index: i32,
    buffer: NVNbufferAddress,
    size: usize,
);

/// `void nvnCommandBufferBindUniformBuffers(NVNcommandBuffer* cmdBuf, NVNshaderStage stage, int first, int count, const NVNbufferRange* buffers)`
pub type nvnCommandBufferBindUniformBuffers = unsafe extern "C" fn(
    cmd_buf: *mut NVNcommandBuffer,
    stage: NVNshaderStage,
    first: i32,
    count: i32,
    buffers: *const NVNbufferRange,
);

/// `void nvnCommandBufferBindVertexAttribState(NVNcommandBuffer* cmdBuf, int numAttribs, const NVNvertexAttribState* attribs)`
pub type nvnCommandBufferBindVertexAttribState =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, num_attribs: i32, attribs: *const NVNvertexAttribState);

/// `void nvnCommandBufferBindVertexBuffer(NVNcommandBuffer* cmdBuf, int index, NVNbufferAddress buffer, size_t size)`
pub type nvnCommandBufferBindVertexBuffer =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, index: i32, buffer: NVNbufferAddress, size: usize);

/// `void nvnCommandBufferBindVertexBuffers(NVNcommandBuffer* cmdBuf, int first, int count, const NVNbufferRange* buffers)`
pub type nvnCommandBufferBindVertexBuffers =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, first: i32, count: i32, buffers: *const NVNbufferRange);

/// `void nvnCommandBufferBindVertexStreamState(NVNcommandBuffer* cmdBuf, int numStreams, const NVNvertexStreamState* streams)`
pub type nvnCommandBufferBindVertexStreamState =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, num_streams: i32, streams: *const NVNvertexStreamState);

/// `void nvnCommandBufferCallCommands(NVNcommandBuffer* cmdBuf, int numCommands, const NVNcommandHandle* handles)`
pub type nvnCommandBufferCallCommands =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, num_commands: i32, handles: *const NVNcommandHandle);

/// `void nvnCommandBufferClearBuffer(NVNcommandBuffer* cmdBuf, NVNbufferAddress buffer, size_t size, uint32_t value)`
pub type nvnCommandBufferClearBuffer =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, buffer: NVNbufferAddress, size: usize, value: u32);

/// `void nvnCommandBufferClearColor(NVNcommandBuffer* cmdBuf, int index, const float* color, int mask)`
pub type nvnCommandBufferClearColor =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, index: i32, color: *const f32, mask: NVNclearColorMask);

/// `void nvnCommandBufferClearColori(NVNcommandBuffer* cmdBuf, int index, const int* color, int mask)`
pub type nvnCommandBufferClearColori =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, index: i32, color: *const i32, mask: NVNclearColorMask);

/// `void nvnCommandBufferClearColorui(NVNcommandBuffer* cmdBuf, int index, const uint32_t* color, int mask)`
pub type nvnCommandBufferClearColorui =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, index: i32, color: *const u32, mask: NVNclearColorMask);

/// `void nvnCommandBufferClearDepthStencil(NVNcommandBuffer* cmdBuf, float depthValue, NVNboolean depthMask, int stencilValue, int stencilMask)`
pub type nvnCommandBufferClearDepthStencil = unsafe extern "C" fn(
    cmd_buf: *mut NVNcommandBuffer,
    depth_value: f32,
    depth_mask: NVNboolean,
    stencil_value: i32,
    stencil_mask: i32,
);

/// `void nvnCommandBufferClearTexture(NVNcommandBuffer* cmdBuf, const NVNtexture* dstTexture, const NVNtextureView* dstView, const NVNcopyRegion* dstRegion, const float* color, int mask)`
pub type nvnCommandBufferClearTexture = unsafe extern "C" fn(
    cmd_buf: *mut NVNcommandBuffer,
    dst_texture: *const NVNtexture,
    dst_view: *const NVNtextureView,
    dst_region: *const NVNcopyRegion,
    color: *const f32,
    mask: NVNclearColorMask,
);

/// `void nvnCommandBufferClearTexturei(NVNcommandBuffer* cmdBuf, const NVNtexture* dstTexture, const NVNtextureView* dstView, const NVNcopyRegion* dstRegion, const int* color, int mask)`
pub type nvnCommandBufferClearTexturei = unsafe extern "C" fn(
    cmd_buf: *mut NVNcommandBuffer,
    dst_texture: *const NVNtexture,
    dst_view: *const NVNtextureView,
    dst_region: *const NVNcopyRegion,
    color: *const i32,
    mask: NVNclearColorMask,
);

/// `void nvnCommandBufferClearTextureui(NVNcommandBuffer* cmdBuf, const NVNtexture* dstTexture, const NVNtextureView* dstView, const NVNcopyRegion* dstRegion, const uint32_t* color, int mask)`
pub type nvnCommandBufferClearTextureui = unsafe extern "C" fn(
    cmd_buf: *mut NVNcommandBuffer,
    dst_texture: *const NVNtexture,
    dst_view: *const NVNtextureView,
    dst_region: *const NVNcopyRegion,
    color: *const u32,
    mask: NVNclearColorMask,
);

/// `void nvnCommandBufferCopyBufferToBuffer(NVNcommandBuffer* cmdBuf, NVNbufferAddress src, NVNbufferAddress dst, size_t size, int flags)`
pub type nvnCommandBufferCopyBufferToBuffer = unsafe extern "C" fn(
    cmd_buf: *mut NVNcommandBuffer,
    src: NVNbufferAddress,
    dst: NVNbufferAddress,
    size: usize,
    flags: NVNcopyFlags,
);

/// `void nvnCommandBufferCopyBufferToTexture(NVNcommandBuffer* cmdBuf, NVNbufferAddress buffer, const NVNtexture* dstTexture, const NVNtextureView* dstView, const NVNcopyRegion* dstRegion, int flags)`
pub type nvnCommandBufferCopyBufferToTexture = unsafe extern "C" fn(
    cmd_buf: *mut NVNcommandBuffer,
    buffer: NVNbufferAddress,
    dst_texture: *const NVNtexture,
    dst_view: *const NVNtextureView,
    dst_region: *const NVNcopyRegion,
    flags: NVNcopyFlags,
);

/// `void nvnCommandBufferCopyCommands(NVNcommandBuffer* cmdBuf, int numCommands, const NVNcommandHandle* handles)`
pub type nvnCommandBufferCopyCommands =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, num_commands: i32, handles: *const NVNcommandHandle);

/// `void nvnCommandBufferCopyTextureToBuffer(NVNcommandBuffer* cmdBuf, const NVNtexture* srcTexture, const NVNtextureView* srcView, const NVNcopyRegion* srcRegion, NVNbufferAddress buffer, int flags)`
pub type nvnCommandBufferCopyTextureToBuffer = unsafe extern "C" fn(
    cmd_buf: *mut NVNcommandBuffer,
    src_texture: *const NVNtexture,
    src_view: *const NVNtextureView,
    src_region: *const NVNcopyRegion,
    buffer: NVNbufferAddress,
    flags: NVNcopyFlags,
);

/// `void nvnCommandBufferCopyTextureToTexture(NVNcommandBuffer* cmdBuf, const NVNtexture* srcTexture, const NVNtextureView* srcView, const NVNcopyRegion* srcRegion, const NVNtexture* dstTexture, const NVNtextureView* dstView, const NVNcopyRegion* dstRegion, int flags)`
pub type nvnCommandBufferCopyTextureToTexture = unsafe extern "C" fn(
    cmd_buf: *mut NVNcommandBuffer,
    src_texture: *const NVNtexture,
    src_view: *const NVNtextureView,
    src_region: *const NVNcopyRegion,
    dst_texture: *const NVNtexture,
    dst_view: *const NVNtextureView,
    dst_region: *const NVNcopyRegion,
    flags: NVNcopyFlags,
);

/// `void nvnCommandBufferDiscardColor(NVNcommandBuffer* cmdBuf, int index)`
pub type nvnCommandBufferDiscardColor = unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, index: i32);

/// `void nvnCommandBufferDiscardDepthStencil(NVNcommandBuffer* cmdBuf)`
pub type nvnCommandBufferDiscardDepthStencil = unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer);

/// `void nvnCommandBufferDispatchCompute(NVNcommandBuffer* cmdBuf, int groupsX, int groupsY, int groupsZ)`
pub type nvnCommandBufferDispatchCompute =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, groups_x: i32, groups_y: i32, groups_z: i32);

/// `void nvnCommandBufferDispatchComputeIndirect(NVNcommandBuffer* cmdBuf, NVNbufferAddress buffer)`
pub type nvnCommandBufferDispatchComputeIndirect =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, buffer: NVNbufferAddress);

/// `void nvnCommandBufferDownsample(NVNcommandBuffer* cmdBuf, const NVNtexture* src, const NVNtexture* dst)`
pub type nvnCommandBufferDownsample =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, src: *const NVNtexture, dst: *const NVNtexture);

/// `void nvnCommandBufferDownsampleTextureView(NVNcommandBuffer* cmdBuf, const NVNtexture* src, const NVNtextureView* srcView, const NVNtexture* dst, const NVNtextureView* dstView)`
pub type nvnCommandBufferDownsampleTextureView = unsafe extern "C" fn(
    cmd_buf: *mut NVNcommandBuffer,
    src: *const NVNtexture,
    src_view: *const NVNtextureView,
    dst: *const NVNtexture,
    dst_view: *const NVNtextureView,
);

/// `void nvnCommandBufferDrawArrays(NVNcommandBuffer* cmdBuf, NVNdrawPrimitive mode, int first, int count)`
pub type nvnCommandBufferDrawArrays =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, mode: NVNdrawPrimitive, first: i32, count: i32);

/// `void nvnCommandBufferDrawArraysIndirect(NVNcommandBuffer* cmdBuf, NVNdrawPrimitive mode, NVNbufferAddress buffer)`
pub type nvnCommandBufferDrawArraysIndirect =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, mode: NVNdrawPrimitive, buffer: NVNbufferAddress);

/// `void nvnCommandBufferDrawArraysInstanced(NVNcommandBuffer* cmdBuf, NVNdrawPrimitive mode, int first, int count, int baseInstance, int instanceCount)`
pub type nvnCommandBufferDrawArraysInstanced = unsafe extern "C" fn(
    cmd_buf: *mut NVNcommandBuffer,
    mode: NVNdrawPrimitive,
    first: i32,
    count: i32,
    base_instance: i32,
    instance_count: i32,
);

/// `void nvnCommandBufferDrawElements(NVNcommandBuffer* cmdBuf, NVNdrawPrimitive mode, NVNindexType type, int count, NVNbufferAddress indexBuffer)`
pub type nvnCommandBufferDrawElements = unsafe extern "C" fn(
    cmd_buf: *mut NVNcommandBuffer,
    mode: NVNdrawPrimitive,
    type_: NVNindexType,
    count: i32,
    index_buffer: NVNbufferAddress,
);

/// `void nvnCommandBufferDrawElementsBaseVertex(NVNcommandBuffer* cmdBuf, NVNdrawPrimitive mode, NVNindexType type, int count, NVNbufferAddress indexBuffer, int baseVertex)`
pub type nvnCommandBufferDrawElementsBaseVertex = unsafe extern "C" fn(
    cmd_buf: *mut NVNcommandBuffer,
    mode: NVNdrawPrimitive,
    type_: NVNindexType,
    count: i32,
    index_buffer: NVNbufferAddress,
    base_vertex: i32,
);

/// `void nvnCommandBufferDrawElementsIndirect(NVNcommandBuffer* cmdBuf, NVNdrawPrimitive mode, NVNindexType type, NVNbufferAddress indexBuffer, NVNbufferAddress indirectBuffer)`
pub type nvnCommandBufferDrawElementsIndirect = unsafe extern "C" fn(
    cmd_buf: *mut NVNcommandBuffer,
    mode: NVNdrawPrimitive,
    type_: NVNindexType,
    index_buffer: NVNbufferAddress,
    indirect_buffer: NVNbufferAddress,
);

/// `void nvnCommandBufferDrawElementsInstanced(NVNcommandBuffer* cmdBuf, NVNdrawPrimitive mode, NVNindexType type, int count, NVNbufferAddress indexBuffer, int baseVertex, int baseInstance, int instanceCount)`
pub type nvnCommandBufferDrawElementsInstanced = unsafe extern "C" fn(
    cmd_buf: *mut NVNcommandBuffer,
    mode: NVNdrawPrimitive,
    type_: NVNindexType,
    count: i32,
    index_buffer: NVNbufferAddress,
    base_vertex: i32,
    base_instance: i32,
    instance_count: i32,
);

/// `void nvnCommandBufferDrawTexture(NVNcommandBuffer* cmdBuf, NVNtextureHandle handle, const NVNdrawTextureRegion* dstRegion, const NVNdrawTextureRegion* srcRegion)`
pub type nvnCommandBufferDrawTexture = unsafe extern "C" fn(
    cmd_buf: *mut NVNcommandBuffer,
    handle: NVNtextureHandle,
    dst_region: *const NVNdrawTextureRegion,
    src_region: *const NVNdrawTextureRegion,
);

/// `void nvnCommandBufferDrawTransformFeedback(NVNcommandBuffer* cmdBuf, NVNdrawPrimitive mode, NVNbufferAddress buffer)`
pub type nvnCommandBufferDrawTransformFeedback =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, mode: NVNdrawPrimitive, buffer: NVNbufferAddress);

/// `NVNcommandHandle nvnCommandBufferEndRecording(NVNcommandBuffer* cmdBuf)`
pub type nvnCommandBufferEndRecording = unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer) -> NVNcommandHandle;

/// `void nvnCommandBufferEndTransformFeedback(NVNcommandBuffer* cmdBuf, NVNbufferAddress buffer)`
pub type nvnCommandBufferEndTransformFeedback =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, buffer: NVNbufferAddress);

/// `void nvnCommandBufferFenceSync(NVNcommandBuffer* cmdBuf, NVNsync* sync, NVNsyncCondition condition, int flags)`
pub type nvnCommandBufferFenceSync = unsafe extern "C" fn(
    cmd_buf: *mut NVNcommandBuffer,
    sync: *mut NVNsync,
    condition: NVNsyncCondition,
    flags: NVNsyncFlagBits,
);

/// `void nvnCommandBufferFinalize(NVNcommandBuffer* cmdBuf)`
pub type nvnCommandBufferFinalize = unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer);

/// `size_t nvnCommandBufferGetCommandMemoryFree(const NVNcommandBuffer* cmdBuf)`
pub type nvnCommandBufferGetCommandMemoryFree = unsafe extern "C" fn(cmd_buf: *const NVNcommandBuffer) -> usize;

/// `size_t nvnCommandBufferGetCommandMemorySize(const NVNcommandBuffer* cmdBuf)`
pub type nvnCommandBufferGetCommandMemorySize = unsafe extern "C" fn(cmd_buf: *const NVNcommandBuffer) -> usize;

/// `size_t nvnCommandBufferGetCommandMemoryUsed(const NVNcommandBuffer* cmdBuf)`
pub type nvnCommandBufferGetCommandMemoryUsed = unsafe extern "C" fn(cmd_buf: *const NVNcommandBuffer) -> usize;

/// `size_t nvnCommandBufferGetControlMemoryFree(const NVNcommandBuffer* cmdBuf)`
pub type nvnCommandBufferGetControlMemoryFree = unsafe extern "C" fn(cmd_buf: *const NVNcommandBuffer) -> usize;

/// `size_t nvnCommandBufferGetControlMemorySize(const NVNcommandBuffer* cmdBuf)`
pub type nvnCommandBufferGetControlMemorySize = unsafe extern "C" fn(cmd_buf: *const NVNcommandBuffer) -> usize;

/// `size_t nvnCommandBufferGetControlMemoryUsed(const NVNcommandBuffer* cmdBuf)`
pub type nvnCommandBufferGetControlMemoryUsed = unsafe extern "C" fn(cmd_buf: *const NVNcommandBuffer) -> usize;

/// `ptrdiff_t nvnCommandBufferGetCopyImageStride(const NVNcommandBuffer* cmdBuf)`
pub type nvnCommandBufferGetCopyImageStride = unsafe extern "C" fn(cmd_buf: *const NVNcommandBuffer) -> isize;

/// `ptrdiff_t nvnCommandBufferGetCopyRowStride(const NVNcommandBuffer* cmdBuf)`
pub type nvnCommandBufferGetCopyRowStride = unsafe extern "C" fn(cmd_buf: *const NVNcommandBuffer) -> isize;

/// `PFNNVNCOMMANDBUFFERMEMORYCALLBACKPROC nvnCommandBufferGetMemoryCallback(const NVNcommandBuffer* cmdBuf)`
pub type nvnCommandBufferGetMemoryCallback =
    unsafe extern "C" fn(cmd_buf: *const NVNcommandBuffer) -> PFNNVNCOMMANDBUFFERMEMORYCALLBACKPROC;

/// `void* nvnCommandBufferGetMemoryCallbackData(const NVNcommandBuffer* cmdBuf)`
pub type nvnCommandBufferGetMemoryCallbackData =
    unsafe extern "C" fn(cmd_buf: *const NVNcommandBuffer) -> *mut core::ffi::c_void;

/// `NVNboolean nvnCommandBufferInitialize(NVNcommandBuffer* cmdBuf, NVNdevice* device)`
pub type nvnCommandBufferInitialize =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, device: *mut NVNdevice) -> NVNboolean;

/// `void nvnCommandBufferInsertDebugMarker(NVNcommandBuffer* cmdBuf, const char* description)`
pub type nvnCommandBufferInsertDebugMarker =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, description: *const core::ffi::c_char);

/// `void nvnCommandBufferInsertDebugMarkerDynamic(NVNcommandBuffer* cmdBuf, uint32_t domainId, const char* description)`
pub type nvnCommandBufferInsertDebugMarkerDynamic =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, domain_id: u32, description: *const core::ffi::c_char);

/// `void nvnCommandBufferInsertDebugMarkerStatic(NVNcommandBuffer* cmdBuf, uint32_t domainId, const char* description)`
pub type nvnCommandBufferInsertDebugMarkerStatic =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, domain_id: u32, description: *const core::ffi::c_char);

/// `NVNboolean nvnCommandBufferIsRecording(const NVNcommandBuffer* cmdBuf)`
pub type nvnCommandBufferIsRecording = unsafe extern "C" fn(cmd_buf: *const NVNcommandBuffer) -> NVNboolean;

/// `void nvnCommandBufferMultiDrawArraysIndirectCount(NVNcommandBuffer* cmdBuf, NVNdrawPrimitive mode, NVNbufferAddress indirectBuffer, NVNbufferAddress countBuffer, int maxDrawCount, ptrdiff_t stride)`
pub type nvnCommandBufferMultiDrawArraysIndirectCount = unsafe extern "C" fn(
    cmd_buf: *mut NVNcommandBuffer,
    mode: NVNdrawPrimitive,
    indirect_buffer: NVNbufferAddress,
    count_buffer: NVNbufferAddress,
    max_draw_count: i32,
    stride: isize,
);

/// `void nvnCommandBufferMultiDrawElementsIndirectCount(NVNcommandBuffer* cmdBuf, NVNdrawPrimitive mode, NVNindexType type, NVNbufferAddress indexBuffer, NVNbufferAddress indirectBuffer, NVNbufferAddress countBuffer, int maxDrawCount, ptrdiff_t stride)`
pub type nvnCommandBufferMultiDrawElementsIndirectCount = unsafe extern "C" fn(
    cmd_buf: *mut NVNcommandBuffer,
    mode: NVNdrawPrimitive,
    type_: NVNindexType,
    index_buffer: NVNbufferAddress,
    indirect_buffer: NVNbufferAddress,
    count_buffer: NVNbufferAddress,
    max_draw_count: i32,
    stride: isize,
);

/// `void nvnCommandBufferPauseTransformFeedback(NVNcommandBuffer* cmdBuf, NVNbufferAddress buffer)`
pub type nvnCommandBufferPauseTransformFeedback =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, buffer: NVNbufferAddress);

/// `void nvnCommandBufferPopDebugGroup(NVNcommandBuffer* cmdBuf)`
pub type nvnCommandBufferPopDebugGroup = unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer);

/// `void nvnCommandBufferPopDebugGroupId(NVNcommandBuffer* cmdBuf, uint32_t domainId)`
pub type nvnCommandBufferPopDebugGroupId = unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, domain_id: u32);

/// `void nvnCommandBufferPushDebugGroup(NVNcommandBuffer* cmdBuf, uint32_t domainId, const char* description)`
pub type nvnCommandBufferPushDebugGroup =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, domain_id: u32, description: *const core::ffi::c_char);

/// `void nvnCommandBufferPushDebugGroupDynamic(NVNcommandBuffer* cmdBuf, uint32_t domainId, const char* description)`
pub type nvnCommandBufferPushDebugGroupDynamic =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, domain_id: u32, description: *const core::ffi::c_char);

/// `void nvnCommandBufferPushDebugGroupStatic(NVNcommandBuffer* cmdBuf, uint32_t domainId, const char* description)`
pub type nvnCommandBufferPushDebugGroupStatic =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, domain_id: u32, description: *const core::ffi::c_char);

/// `void nvnCommandBufferReportCounter(NVNcommandBuffer* cmdBuf, NVNcounterType counter, NVNbufferAddress buffer)`
pub type nvnCommandBufferReportCounter =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, counter: NVNcounterType, buffer: NVNbufferAddress);

/// `void nvnCommandBufferReportValue(NVNcommandBuffer* cmdBuf, uint32_t value, NVNbufferAddress buffer)`
pub type nvnCommandBufferReportValue =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, value: u32, buffer: NVNbufferAddress);

/// `void nvnCommandBufferResetCounter(NVNcommandBuffer* cmdBuf, NVNcounterType counter)`
pub type nvnCommandBufferResetCounter = unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, counter: NVNcounterType);

/// `void nvnCommandBufferResolveDepthBuffer(NVNcommandBuffer* cmdBuf)`
pub type nvnCommandBufferResolveDepthBuffer = unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer);

/// `void nvnCommandBufferRestoreZCullData(NVNcommandBuffer* cmdBuf, NVNbufferAddress addr, size_t size)`
pub type nvnCommandBufferRestoreZCullData =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, addr: NVNbufferAddress, size: usize);

/// `void nvnCommandBufferResumeTransformFeedback(NVNcommandBuffer* cmdBuf, NVNbufferAddress buffer)`
pub type nvnCommandBufferResumeTransformFeedback =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, buffer: NVNbufferAddress);

/// `void nvnCommandBufferSaveZCullData(NVNcommandBuffer* cmdBuf, NVNbufferAddress addr, size_t size)`
pub type nvnCommandBufferSaveZCullData =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, addr: NVNbufferAddress, size: usize);

/// `void nvnCommandBufferSetAlphaRef(NVNcommandBuffer* cmdBuf, float ref)`
pub type nvnCommandBufferSetAlphaRef = unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, ref_: f32);

/// `void nvnCommandBufferSetBlendColor(NVNcommandBuffer* cmdBuf, const float* blendColor)`
pub type nvnCommandBufferSetBlendColor = unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, blend_color: *const f32);

/// `void nvnCommandBufferSetColorReductionEnable(NVNcommandBuffer* cmdBuf, NVNboolean enable)`
pub type nvnCommandBufferSetColorReductionEnable =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, enable: NVNboolean);

/// `void nvnCommandBufferSetColorReductionThresholds(NVNcommandBuffer* cmdBuf, NVNformatClass formatClass, int unknown_i1, int unknown_i2)`
pub type nvnCommandBufferSetColorReductionThresholds = unsafe extern "C" fn(
    cmd_buf: *mut NVNcommandBuffer,
    format_class: NVNformatClass,
    unknown_i1: i32,
    unknown_i2: i32,
);

/// `void nvnCommandBufferSetConservativeRasterDilate(NVNcommandBuffer* cmdBuf, float dilate)`
pub type nvnCommandBufferSetConservativeRasterDilate =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, dilate: f32);

/// `void nvnCommandBufferSetConservativeRasterEnable(NVNcommandBuffer* cmdBuf, NVNboolean enable)`
pub type nvnCommandBufferSetConservativeRasterEnable =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, enable: NVNboolean);

/// `void nvnCommandBufferSetCopyImageStride(NVNcommandBuffer* cmdBuf, ptrdiff_t stride)`
pub type nvnCommandBufferSetCopyImageStride = unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, stride: isize);

/// `void nvnCommandBufferSetCopyRowStride(NVNcommandBuffer* cmdBuf, ptrdiff_t stride)`
pub type nvnCommandBufferSetCopyRowStride = unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, stride: isize);

/// `void nvnCommandBufferSetDebugLabel(NVNcommandBuffer* cmdBuf, const char* label)`
pub type nvnCommandBufferSetDebugLabel =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, label: *const core::ffi::c_char);

/// `void nvnCommandBufferSetDepthBounds(NVNcommandBuffer* cmdBuf, NVNboolean enable, float zNear, float zFar)`
pub type nvnCommandBufferSetDepthBounds =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, enable: NVNboolean, z_near: f32, z_far: f32);

/// `void nvnCommandBufferSetDepthClamp(NVNcommandBuffer* cmdBuf, NVNboolean clamp)`
pub type nvnCommandBufferSetDepthClamp = unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, clamp: NVNboolean);

/// `void nvnCommandBufferSetDepthRange(NVNcommandBuffer* cmdBuf, float zNear, float zFar)`
pub type nvnCommandBufferSetDepthRange = unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, z_near: f32, z_far: f32);

/// `void nvnCommandBufferSetDepthRanges(NVNcommandBuffer* cmdBuf, int first, int count, const float* ranges)`
pub type nvnCommandBufferSetDepthRanges =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, first: i32, count: i32, ranges: *const f32);

/// `void nvnCommandBufferSetFloatBlendClamp(NVNcommandBuffer* cmdBuf, int mode)` (prototype assumed)
pub type nvnCommandBufferSetFloatBlendClamp = unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, mode: i32);

/// `void nvnCommandBufferSetInnerTessellationLevels(NVNcommandBuffer* cmdBuf, const float* levels)`
pub type nvnCommandBufferSetInnerTessellationLevels =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, levels: *const f32);

/// `void nvnCommandBufferSetLineWidth(NVNcommandBuffer* cmdBuf, float lineWidth)`
pub type nvnCommandBufferSetLineWidth = unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, line_width: f32);

/// `void nvnCommandBufferSetMemoryCallback(NVNcommandBuffer* cmdBuf, PFNNVNCOMMANDBUFFERMEMORYCALLBACKPROC callback)`
pub type nvnCommandBufferSetMemoryCallback =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, callback: PFNNVNCOMMANDBUFFERMEMORYCALLBACKPROC);

/// `void nvnCommandBufferSetMemoryCallbackData(NVNcommandBuffer* cmdBuf, void* callbackData)`
pub type nvnCommandBufferSetMemoryCallbackData =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, callback_data: *mut core::ffi::c_void);

/// `void nvnCommandBufferSetOuterTessellationLevels(NVNcommandBuffer* cmdBuf, const float* levels)`
pub type nvnCommandBufferSetOuterTessellationLevels =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, levels: *const f32);

/// `void nvnCommandBufferSetPatchSize(NVNcommandBuffer* cmdBuf, int size)`
pub type nvnCommandBufferSetPatchSize = unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, size: i32);

/// `void nvnCommandBufferSetPointSize(NVNcommandBuffer* cmdBuf, float pointSize)`
pub type nvnCommandBufferSetPointSize = unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, point_size: f32);

/// `void nvnCommandBufferSetPolygonOffsetClamp(NVNcommandBuffer* cmdBuf, float factor, float units, float clamp)`
pub type nvnCommandBufferSetPolygonOffsetClamp =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, factor: f32, units: f32, clamp: f32);

/// `void nvnCommandBufferSetPrimitiveRestart(NVNcommandBuffer* cmdBuf, NVNboolean enable, int index)`
pub type nvnCommandBufferSetPrimitiveRestart =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, enable: NVNboolean, index: i32);

/// `void nvnCommandBufferSetProgramSubroutines(NVNcommandBuffer* cmdBuf, NVNprogram* program, NVNshaderStage stage, const int first, const int count, const int* values)`
pub type nvnCommandBufferSetProgramSubroutines = unsafe extern "C" fn(
    cmd_buf: *mut NVNcommandBuffer,
    program: *mut NVNprogram,
    stage: NVNshaderStage,
    first: i32,
    count: i32,
    values: *const i32,
);

/// `void nvnCommandBufferSetRasterizerDiscard(NVNcommandBuffer* cmdBuf, NVNboolean discard)`
pub type nvnCommandBufferSetRasterizerDiscard =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, discard: NVNboolean);

/// `void nvnCommandBufferSetRenderEnable(NVNcommandBuffer* cmdBuf, NVNboolean enable)`
pub type nvnCommandBufferSetRenderEnable = unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, enable: NVNboolean);

/// `void nvnCommandBufferSetRenderEnableConditional(NVNcommandBuffer* cmdBuf, NVNconditionalRenderMode mode, NVNbufferAddress addr)`
pub type nvnCommandBufferSetRenderEnableConditional =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, mode: NVNconditionalRenderMode, addr: NVNbufferAddress);

/// `void nvnCommandBufferSetRenderTargets(NVNcommandBuffer* cmdBuf, int numColors, const NVNtexture* const* colors, const NVNtextureView* const* colorViews, const NVNtexture* depthStencil, const NVNtextureView* depthStencilView)`
pub type nvnCommandBufferSetRenderTargets = unsafe extern "C" fn(
    cmd_buf: *mut NVNcommandBuffer,
    num_colors: i32,
    colors: *const *const NVNtexture,
    color_views: *const *const NVNtextureView,
    depth_stencil: *const NVNtexture,
    depth_stencil_view: *const NVNtextureView,
);

/// `void nvnCommandBufferSetRepresentativeFragmentTest(NVNcommandBuffer* cmdBuf, NVNboolean enable)` (prototype assumed)
pub type nvnCommandBufferSetRepresentativeFragmentTest =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, enable: NVNboolean);

/// `void nvnCommandBufferSetSampleMask(NVNcommandBuffer* cmdBuf, int mask)`
pub type nvnCommandBufferSetSampleMask = unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, mask: i32);

/// `void nvnCommandBufferSetSamplerPool(NVNcommandBuffer* cmdBuf, const NVNsamplerPool* pool)`
pub type nvnCommandBufferSetSamplerPool =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, pool: *const NVNsamplerPool);

/// `void nvnCommandBufferSetScissor(NVNcommandBuffer* cmdBuf, int x, int y, int w, int h)`
pub type nvnCommandBufferSetScissor =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, x: i32, y: i32, w: i32, h: i32);

/// `void nvnCommandBufferSetScissors(NVNcommandBuffer* cmdBuf, int first, int count, const int* rects)`
pub type nvnCommandBufferSetScissors =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, first: i32, count: i32, rects: *const i32);

/// `void nvnCommandBufferSetShaderScratchMemory(NVNcommandBuffer* cmdBuf, const NVNmemoryPool* pool, ptrdiff_t offset, size_t size)`
pub type nvnCommandBufferSetShaderScratchMemory =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, pool: *const NVNmemoryPool, offset: isize, size: usize);

/// `void nvnCommandBufferSetStencilCullCriteria(NVNcommandBuffer* cmdBuf, NVNstencilFunc func, int ref, int mask)`
pub type nvnCommandBufferSetStencilCullCriteria =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, func: NVNstencilFunc, ref_: i32, mask: i32);

/// `void nvnCommandBufferSetStencilMask(NVNcommandBuffer* cmdBuf, NVNface faces, int mask)`
pub type nvnCommandBufferSetStencilMask =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, faces: NVNface, mask: i32);

/// `void nvnCommandBufferSetStencilRef(NVNcommandBuffer* cmdBuf, NVNface faces, int ref)`
pub type nvnCommandBufferSetStencilRef =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, faces: NVNface, ref_: i32);

/// `void nvnCommandBufferSetStencilValueMask(NVNcommandBuffer* cmdBuf, NVNface faces, int mask)`
pub type nvnCommandBufferSetStencilValueMask =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, faces: NVNface, mask: i32);

/// `void nvnCommandBufferSetSubpixelPrecisionBias(NVNcommandBuffer* cmdBuf, int xBits, int yBits)`
pub type nvnCommandBufferSetSubpixelPrecisionBias =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, x_bits: i32, y_bits: i32);

/// `void nvnCommandBufferSetTexturePool(NVNcommandBuffer* cmdBuf, const NVNtexturePool* pool)`
pub type nvnCommandBufferSetTexturePool =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, pool: *const NVNtexturePool);

/// `void nvnCommandBufferSetTiledCacheAction(NVNcommandBuffer* cmdBuf, NVNtiledCacheAction action)`
pub type nvnCommandBufferSetTiledCacheAction =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, action: NVNtiledCacheAction);

/// `void nvnCommandBufferSetTiledCacheTileSize(NVNcommandBuffer* cmdBuf, int w, int h)`
pub type nvnCommandBufferSetTiledCacheTileSize = unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, w: i32, h: i32);

/// `void nvnCommandBufferSetViewport(NVNcommandBuffer* cmdBuf, int x, int y, int w, int h)`
pub type nvnCommandBufferSetViewport =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, x: i32, y: i32, w: i32, h: i32);

/// `void nvnCommandBufferSetViewportSwizzles(NVNcommandBuffer* cmdBuf, int first, int count, const NVNviewportSwizzle* swizzles)`
pub type nvnCommandBufferSetViewportSwizzles =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, first: i32, count: i32, swizzles: *const NVNviewportSwizzle);

/// `void nvnCommandBufferSetViewports(NVNcommandBuffer* cmdBuf, int first, int count, const float* ranges)`
pub type nvnCommandBufferSetViewports =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, first: i32, count: i32, ranges: *const f32);

/// `void nvnCommandBufferSignalEvent(NVNcommandBuffer* cmdBuf, const NVNevent* event, NVNeventSignalMode mode, NVNeventSignalLocation location, int flags, uint32_t value)`
pub type nvnCommandBufferSignalEvent = unsafe extern "C" fn(
    cmd_buf: *mut NVNcommandBuffer,
    event: *const NVNevent,
    mode: NVNeventSignalMode,
    location: NVNeventSignalLocation,
    flags: NVNeventSignalFlags,
    value: u32,
);

/// `void nvnCommandBufferTiledDownsample(NVNcommandBuffer* cmdBuf, const NVNtexture* src, const NVNtexture* dst)`
pub type nvnCommandBufferTiledDownsample =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, src: *const NVNtexture, dst: *const NVNtexture);

/// `void nvnCommandBufferTiledDownsampleTextureView(NVNcommandBuffer* cmdBuf, const NVNtexture* src, const NVNtextureView* srcView, const NVNtexture* dst, const NVNtextureView* dstView)`
pub type nvnCommandBufferTiledDownsampleTextureView = unsafe extern "C" fn(
    cmd_buf: *mut NVNcommandBuffer,
    src: *const NVNtexture,
    src_view: *const NVNtextureView,
    dst: *const NVNtexture,
    dst_view: *const NVNtextureView,
);

/// `void nvnCommandBufferUpdateUniformBuffer(NVNcommandBuffer* cmdBuf, NVNbufferAddress buffer, size_t size, ptrdiff_t updateOffset, size_t updateSize, const void* data)`
pub type nvnCommandBufferUpdateUniformBuffer = unsafe extern "C" fn(
    cmd_buf: *mut NVNcommandBuffer,
    buffer: NVNbufferAddress,
    size: usize,
    update_offset: isize,
    update_size: usize,
    data: *const core::ffi::c_void,
);

/// `void nvnCommandBufferWaitEvent(NVNcommandBuffer* cmdBuf, const NVNevent* event, NVNeventWaitMode mode, uint32_t value)`
pub type nvnCommandBufferWaitEvent =
    unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, event: *const NVNevent, mode: NVNeventWaitMode, value: u32);

/// `void nvnCommandBufferWaitSync(NVNcommandBuffer* cmdBuf, const NVNsync* sync)`
pub type nvnCommandBufferWaitSync = unsafe extern "C" fn(cmd_buf: *mut NVNcommandBuffer, sync: *const NVNsync);

/// `NVNdepthFunc nvnDepthStencilStateGetDepthFunc(const NVNdepthStencilState* depthStencil)`
pub type nvnDepthStencilStateGetDepthFunc =
    unsafe extern "C" fn(depth_stencil: *const NVNdepthStencilState) -> NVNdepthFunc;

/// `NVNboolean nvnDepthStencilStateGetDepthTestEnable(const NVNdepthStencilState* depthStencil)`
pub type nvnDepthStencilStateGetDepthTestEnable =
    unsafe extern "C" fn(depth_stencil: *const NVNdepthStencilState) -> NVNboolean;

/// `NVNboolean nvnDepthStencilStateGetDepthWriteEnable(const NVNdepthStencilState* depthStencil)`
pub type nvnDepthStencilStateGetDepthWriteEnable =
    unsafe extern "C" fn(depth_stencil: *const NVNdepthStencilState) -> NVNboolean;

/// `NVNstencilFunc nvnDepthStencilStateGetStencilFunc(const NVNdepthStencilState* depthStencil, NVNface faces)`
pub type nvnDepthStencilStateGetStencilFunc =
    unsafe extern "C" fn(depth_stencil: *const NVNdepthStencilState, faces: NVNface) -> NVNstencilFunc;

/// `void nvnDepthStencilStateGetStencilOp(const NVNdepthStencilState* depthStencil, NVNface faces, NVNstencilOp* fail, NVNstencilOp* depthFail, NVNstencilOp* depthPass)`
pub type nvnDepthStencilStateGetStencilOp = unsafe extern "C" fn(
    depth_stencil: *const NVNdepthStencilState,
    faces: NVNface,
    fail: *mut NVNstencilOp,
    depth_fail: *mut NVNstencilOp,
    depth_pass: *mut NVNstencilOp,
);

/// `NVNboolean nvnDepthStencilStateGetStencilTestEnable(const NVNdepthStencilState* depthStencil)`
pub type nvnDepthStencilStateGetStencilTestEnable =
    unsafe extern "C" fn(depth_stencil: *const NVNdepthStencilState) -> NVNboolean;

/// `void nvnDepthStencilStateSetDefaults(NVNdepthStencilState* depthStencil)`
pub type nvnDepthStencilStateSetDefaults = unsafe extern "C" fn(depth_stencil: *mut NVNdepthStencilState);

/// `void nvnDepthStencilStateSetDepthFunc(NVNdepthStencilState* depthStencil, NVNdepthFunc func)`
pub type nvnDepthStencilStateSetDepthFunc =
    unsafe extern "C" fn(depth_stencil: *mut NVNdepthStencilState, func: NVNdepthFunc);

/// `void nvnDepthStencilStateSetDepthTestEnable(NVNdepthStencilState* depthStencil, NVNboolean enable)`
pub type nvnDepthStencilStateSetDepthTestEnable =
    unsafe extern "C" fn(depth_stencil: *mut NVNdepthStencilState, enable: NVNboolean);

/// `void nvnDepthStencilStateSetDepthWriteEnable(NVNdepthStencilState* depthStencil, NVNboolean enable)`
pub type nvnDepthStencilStateSetDepthWriteEnable =
    unsafe extern "C" fn(depth_stencil: *mut NVNdepthStencilState, enable: NVNboolean);

/// `void nvnDepthStencilStateSetStencilFunc(NVNdepthStencilState* depthStencil, NVNface faces, NVNstencilFunc func)`
pub type nvnDepthStencilStateSetStencilFunc =
    unsafe extern "C" fn(depth_stencil: *mut NVNdepthStencilState, faces: NVNface, func: NVNstencilFunc);

/// `void nvnDepthStencilStateSetStencilOp(NVNdepthStencilState* depthStencil, NVNface faces, NVNstencilOp fail, NVNstencilOp depthFail, NVNstencilOp depthPass)`
pub type nvnDepthStencilStateSetStencilOp = unsafe extern "C" fn(
    depth_stencil: *mut NVNdepthStencilState,
    faces: NVNface,
    fail: NVNstencilOp,
    depth_fail: NVNstencilOp,
    depth_pass: NVNstencilOp,
);

/// `void nvnDepthStencilStateSetStencilTestEnable(NVNdepthStencilState* depthStencil, NVNboolean enable)`
pub type nvnDepthStencilStateSetStencilTestEnable =
    unsafe extern "C" fn(depth_stencil: *mut NVNdepthStencilState, enable: NVNboolean);

/// `void nvnDeviceApplyDeferredFinalizes(NVNdevice* device, int unknown_i)`
pub type nvnDeviceApplyDeferredFinalizes = unsafe extern "C" fn(device: *mut NVNdevice, unknown_i: i32);

/// `int nvnDeviceBuilderGetFlags(const NVNdeviceBuilder* builder)`
pub type nvnDeviceBuilderGetFlags = unsafe extern "C" fn(builder: *const NVNdeviceBuilder) -> i32;

/// `void nvnDeviceBuilderSetDefaults(NVNdeviceBuilder* builder)`
pub type nvnDeviceBuilderSetDefaults = unsafe extern "C" fn(builder: *mut NVNdeviceBuilder);

/// `void nvnDeviceBuilderSetFlags(NVNdeviceBuilder* builder, int flags)`
pub type nvnDeviceBuilderSetFlags = unsafe extern "C" fn(builder: *mut NVNdeviceBuilder, flags: NVNdeviceFlagBits);

/// `void nvnDeviceFinalize(NVNdevice* device)`
pub type nvnDeviceFinalize = unsafe extern "C" fn(device: *mut NVNdevice);

/// `void nvnDeviceFinalizeCommandHandle(NVNdevice* device, NVNcommandHandle handle)`
pub type nvnDeviceFinalizeCommandHandle = unsafe extern "C" fn(device: *mut NVNdevice, handle: NVNcommandHandle);

/// `NVNdebugDomainId nvnDeviceGenerateDebugDomainId(const NVNdevice* device, const char* name)`
pub type nvnDeviceGenerateDebugDomainId =
    unsafe extern "C" fn(device: *const NVNdevice, name: *const core::ffi::c_char) -> NVNdebugDomainId;

/// `uint64_t nvnDeviceGetCurrentTimestampInNanoseconds(const NVNdevice* device)`
pub type nvnDeviceGetCurrentTimestampInNanoseconds = unsafe extern "C" fn(device: *const NVNdevice) -> u64;

/// `NVNdepthMode nvnDeviceGetDepthMode(const NVNdevice* device)`
pub type nvnDeviceGetDepthMode = unsafe extern "C" fn(device: *const NVNdevice) -> NVNdepthMode;

/// `NVNimageHandle nvnDeviceGetImageHandle(const NVNdevice* device, int textureID)`
pub type nvnDeviceGetImageHandle = unsafe extern "C" fn(device: *const NVNdevice, texture_id: i32) -> NVNimageHandle;

/// `void nvnDeviceGetInteger(const NVNdevice* device, NVNdeviceInfo pname, int* value)`
pub type nvnDeviceGetInteger = unsafe extern "C" fn(device: *const NVNdevice, pname: NVNdeviceInfo, value: *mut i32);

/// `PFNNVNGENERICFUNCPTRPROC nvnDeviceGetProcAddress(const NVNdevice* device, const char* name)`
pub type nvnDeviceGetProcAddress =
    unsafe extern "C" fn(device: *const NVNdevice, name: *const core::ffi::c_char) -> PFNNVNGENERICFUNCPTRPROC;

/// `NVNseparateSamplerHandle nvnDeviceGetSeparateSamplerHandle(const NVNdevice* device, int samplerID)`
pub type nvnDeviceGetSeparateSamplerHandle =
    unsafe extern "C" fn(device: *const NVNdevice, sampler_id: i32) -> NVNseparateSamplerHandle;

/// `NVNseparateTextureHandle nvnDeviceGetSeparateTextureHandle(const NVNdevice* device, int textureID)`
pub type nvnDeviceGetSeparateTextureHandle =
    unsafe extern "C" fn(device: *const NVNdevice, texture_id: i32) -> NVNseparateTextureHandle;

/// `NVNtextureHandle nvnDeviceGetTexelFetchHandle(const NVNdevice* device, int textureID)`
pub type nvnDeviceGetTexelFetchHandle =
    unsafe extern "C" fn(device: *const NVNdevice, texture_id: i32) -> NVNtextureHandle;

/// `NVNtextureHandle nvnDeviceGetTextureHandle(const NVNdevice* device, int textureID, int samplerID)`
pub type nvnDeviceGetTextureHandle =
    unsafe extern "C" fn(device: *const NVNdevice, texture_id: i32, sampler_id: i32) -> NVNtextureHandle;

/// `uint64_t nvnDeviceGetTimestampInNanoseconds(const NVNdevice* device, const NVNcounterData* counterData)`
pub type nvnDeviceGetTimestampInNanoseconds =
    unsafe extern "C" fn(device: *const NVNdevice, counter_data: *const NVNcounterData) -> u64;

/// `NVNwindowOriginMode nvnDeviceGetWindowOriginMode(const NVNdevice* device)`
pub type nvnDeviceGetWindowOriginMode = unsafe extern "C" fn(device: *const NVNdevice) -> NVNwindowOriginMode;

/// `NVNboolean nvnDeviceInitialize(NVNdevice* device, const NVNdeviceBuilder* builder)`
pub type nvnDeviceInitialize =
    unsafe extern "C" fn(device: *mut NVNdevice, builder: *const NVNdeviceBuilder) -> NVNboolean;

/// `void nvnDeviceInstallDebugCallback(NVNdevice* device, const PFNNVNDEBUGCALLBACKPROC callback, void* callbackData, NVNboolean enable)`
pub type nvnDeviceInstallDebugCallback = unsafe extern "C" fn(
    device: *mut NVNdevice,
    callback: PFNNVNDEBUGCALLBACKPROC,
    callback_data: *mut core::ffi::c_void,
    enable: NVNboolean,
);

/// `NVNboolean nvnDeviceIsExternalDebuggerAttached(const NVNdevice* device)`
pub type nvnDeviceIsExternalDebuggerAttached = unsafe extern "C" fn(device: *const NVNdevice) -> NVNboolean;

/// `NVNboolean nvnDeviceRegisterFastClearColor(NVNdevice* device, const float* color, NVNformat format)`
pub type nvnDeviceRegisterFastClearColor =
    unsafe extern "C" fn(device: *mut NVNdevice, color: *const f32, format: NVNformat) -> NVNboolean;

/// `NVNboolean nvnDeviceRegisterFastClearColori(NVNdevice* device, const int* color, NVNformat format)`
pub type nvnDeviceRegisterFastClearColori =
    unsafe extern "C" fn(device: *mut NVNdevice, color: *const i32, format: NVNformat) -> NVNboolean;

/// `NVNboolean nvnDeviceRegisterFastClearColorui(NVNdevice* device, const uint32_t* color, NVNformat format)`
pub type nvnDeviceRegisterFastClearColorui =
    unsafe extern "C" fn(device: *mut NVNdevice, color: *const u32, format: NVNformat) -> NVNboolean;

/// `NVNboolean nvnDeviceRegisterFastClearDepth(NVNdevice* device, float depth)`
pub type nvnDeviceRegisterFastClearDepth = unsafe extern "C" fn(device: *mut NVNdevice, depth: f32) -> NVNboolean;

/// `void nvnDeviceSetDebugLabel(NVNdevice* device, const char* label)`
pub type nvnDeviceSetDebugLabel = unsafe extern "C" fn(device: *mut NVNdevice, label: *const core::ffi::c_char);

/// `void nvnDeviceSetDepthMode(NVNdevice* device, NVNdepthMode depthMode)`
pub type nvnDeviceSetDepthMode = unsafe extern "C" fn(device: *mut NVNdevice, depth_mode: NVNdepthMode);

/// `void nvnDeviceSetIntermediateShaderCache(NVNdevice* device, int unknown_i)`
pub type nvnDeviceSetIntermediateShaderCache = unsafe extern "C" fn(device: *mut NVNdevice, unknown_i: i32);

/// `void nvnDeviceSetWindowOriginMode(NVNdevice* device, NVNwindowOriginMode windowOriginMode)`
pub type nvnDeviceSetWindowOriginMode =
    unsafe extern "C" fn(device: *mut NVNdevice, window_origin_mode: NVNwindowOriginMode);

/// `void nvnDeviceWalkDebugDatabase(const NVNdevice* device, NVNdebugObjectType debugObjectType, PFNNVNWALKDEBUGDATABASECALLBACKPROC callback, void* callbackData)`
pub type nvnDeviceWalkDebugDatabase = unsafe extern "C" fn(
    device: *const NVNdevice,
    debug_object_type: NVNdebugObjectType,
    callback: PFNNVNWALKDEBUGDATABASECALLBACKPROC,
    callback_data: *mut core::ffi::c_void,
);

/// `const NVNmemoryPool* nvnEventBuilderGetStorage(const NVNeventBuilder* builder, int64_t* offset)`
pub type nvnEventBuilderGetStorage =
    unsafe extern "C" fn(builder: *const NVNeventBuilder, offset: *mut i64) -> *const NVNmemoryPool;

/// `void nvnEventBuilderSetDefaults(NVNeventBuilder* builder)`
pub type nvnEventBuilderSetDefaults = unsafe extern "C" fn(builder: *mut NVNeventBuilder);

/// `void nvnEventBuilderSetStorage(NVNeventBuilder* builder, const NVNmemoryPool* pool, int64_t offset)`
pub type nvnEventBuilderSetStorage =
    unsafe extern "C" fn(builder: *mut NVNeventBuilder, pool: *const NVNmemoryPool, offset: i64);

/// `void nvnEventFinalize(NVNevent* event)`
pub type nvnEventFinalize = unsafe extern "C" fn(event: *mut NVNevent);

/// `uint32_t nvnEventGetValue(const NVNevent* event)`
pub type nvnEventGetValue = unsafe extern "C" fn(event: *const NVNevent) -> u32;

/// `NVNboolean nvnEventInitialize(NVNevent* event, const NVNeventBuilder* builder)`
pub type nvnEventInitialize = unsafe extern "C" fn(event: *mut NVNevent, builder: *const NVNeventBuilder) -> NVNboolean;

/// `void nvnEventSignal(NVNevent* event, NVNeventSignalMode mode, uint32_t value)`
pub type nvnEventSignal = unsafe extern "C" fn(event: *mut NVNevent, mode: NVNeventSignalMode, value: u32);

/// `const NVNdevice* nvnMemoryPoolBuilderGetDevice(const NVNmemoryPoolBuilder* builder)`
pub type nvnMemoryPoolBuilderGetDevice = unsafe extern "C" fn(builder: *const NVNmemoryPoolBuilder) -> *const NVNdevice;

/// `NVNmemoryPoolFlags nvnMemoryPoolBuilderGetFlags(const NVNmemoryPoolBuilder* builder)`
pub type nvnMemoryPoolBuilderGetFlags =
    unsafe extern "C" fn(builder: *const NVNmemoryPoolBuilder) -> NVNmemoryPoolFlags;

/// `void* nvnMemoryPoolBuilderGetMemory(const NVNmemoryPoolBuilder* builder)`
pub type nvnMemoryPoolBuilderGetMemory =
    unsafe extern "C" fn(builder: *const NVNmemoryPoolBuilder) -> *mut core::ffi::c_void;

/// `size_t nvnMemoryPoolBuilderGetSize(const NVNmemoryPoolBuilder* builder)`
pub type nvnMemoryPoolBuilderGetSize = unsafe extern "C" fn(builder: *const NVNmemoryPoolBuilder) -> usize;

/// `void nvnMemoryPoolBuilderSetDefaults(NVNmemoryPoolBuilder* builder)`
pub type nvnMemoryPoolBuilderSetDefaults = unsafe extern "C" fn(builder: *mut NVNmemoryPoolBuilder);

/// `void nvnMemoryPoolBuilderSetDevice(NVNmemoryPoolBuilder* builder, NVNdevice* device)`
pub type nvnMemoryPoolBuilderSetDevice =
    unsafe extern "C" fn(builder: *mut NVNmemoryPoolBuilder, device: *mut NVNdevice);

/// `void nvnMemoryPoolBuilderSetFlags(NVNmemoryPoolBuilder* builder, int flags)`
pub type nvnMemoryPoolBuilderSetFlags =
    unsafe extern "C" fn(builder: *mut NVNmemoryPoolBuilder, flags: NVNmemoryPoolFlags);

/// `void nvnMemoryPoolBuilderSetStorage(NVNmemoryPoolBuilder* builder, void* memory, size_t size)`
pub type nvnMemoryPoolBuilderSetStorage =
    unsafe extern "C" fn(builder: *mut NVNmemoryPoolBuilder, memory: *mut core::ffi::c_void, size: usize);

/// `void nvnMemoryPoolFinalize(NVNmemoryPool* pool)`
pub type nvnMemoryPoolFinalize = unsafe extern "C" fn(pool: *mut NVNmemoryPool);

/// `void nvnMemoryPoolFlushMappedRange(const NVNmemoryPool* pool, ptrdiff_t offset, size_t size)`
pub type nvnMemoryPoolFlushMappedRange = unsafe extern "C" fn(pool: *const NVNmemoryPool, offset: isize, size: usize);

/// `NVNbufferAddress nvnMemoryPoolGetBufferAddress(const NVNmemoryPool* pool)`
pub type nvnMemoryPoolGetBufferAddress = unsafe extern "C" fn(pool: *const NVNmemoryPool) -> NVNbufferAddress;

/// `NVNmemoryPoolFlags nvnMemoryPoolGetFlags(const NVNmemoryPool* pool)`
pub type nvnMemoryPoolGetFlags = unsafe extern "C" fn(pool: *const NVNmemoryPool) -> NVNmemoryPoolFlags;

/// `size_t nvnMemoryPoolGetSize(const NVNmemoryPool* pool)`
pub type nvnMemoryPoolGetSize = unsafe extern "C" fn(pool: *const NVNmemoryPool) -> usize;

/// `NVNboolean nvnMemoryPoolInitialize(NVNmemoryPool* pool, const NVNmemoryPoolBuilder* builder)`
pub type nvnMemoryPoolInitialize =
    unsafe extern "C" fn(pool: *mut NVNmemoryPool, builder: *const NVNmemoryPoolBuilder) -> NVNboolean;

/// `void nvnMemoryPoolInvalidateMappedRange(const NVNmemoryPool* pool, ptrdiff_t offset, size_t size)`
pub type nvnMemoryPoolInvalidateMappedRange =
    unsafe extern "C" fn(pool: *const NVNmemoryPool, offset: isize, size: usize);

/// `void* nvnMemoryPoolMap(const NVNmemoryPool* pool)`
pub type nvnMemoryPoolMap = unsafe extern "C" fn(pool: *const NVNmemoryPool) -> *mut core::ffi::c_void;

/// `NVNboolean nvnMemoryPoolMapVirtual(NVNmemoryPool* pool, int numRequests, const NVNmappingRequest* requests)`
pub type nvnMemoryPoolMapVirtual =
    unsafe extern "C" fn(pool: *mut NVNmemoryPool, num_requests: i32, requests: *const NVNmappingRequest) -> NVNboolean;

/// `void nvnMemoryPoolSetDebugLabel(NVNmemoryPool* pool, const char* label)`
pub type nvnMemoryPoolSetDebugLabel = unsafe extern "C" fn(pool: *mut NVNmemoryPool, label: *const core::ffi::c_char);

/// `NVNboolean nvnMultisampleStateGetAlphaToCoverageDither(const NVNmultisampleState* multisample)`
pub type nvnMultisampleStateGetAlphaToCoverageDither =
    unsafe extern "C" fn(multisample: *const NVNmultisampleState) -> NVNboolean;

/// `NVNboolean nvnMultisampleStateGetAlphaToCoverageEnable(const NVNmultisampleState* multisample)`
pub type nvnMultisampleStateGetAlphaToCoverageEnable =
    unsafe extern "C" fn(multisample: *const NVNmultisampleState) -> NVNboolean;

/// `NVNcoverageModulationMode nvnMultisampleStateGetCoverageModulationMode(const NVNmultisampleState* multisample)`
pub type nvnMultisampleStateGetCoverageModulationMode =
    unsafe extern "C" fn(multisample: *const NVNmultisampleState) -> NVNcoverageModulationMode;

/// `NVNboolean nvnMultisampleStateGetCoverageToColorEnable(const NVNmultisampleState* multisample)`
pub type nvnMultisampleStateGetCoverageToColorEnable =
    unsafe extern "C" fn(multisample: *const NVNmultisampleState) -> NVNboolean;

/// `int nvnMultisampleStateGetCoverageToColorOutput(const NVNmultisampleState* multisample)`
pub type nvnMultisampleStateGetCoverageToColorOutput =
    unsafe extern "C" fn(multisample: *const NVNmultisampleState) -> i32;

/// `NVNboolean nvnMultisampleStateGetMultisampleEnable(const NVNmultisampleState* multisample)`
pub type nvnMultisampleStateGetMultisampleEnable =
    unsafe extern "C" fn(multisample: *const NVNmultisampleState) -> NVNboolean;

/// `int nvnMultisampleStateGetRasterSamples(NVNmultisampleState* multisample)`
pub type nvnMultisampleStateGetRasterSamples = unsafe extern "C" fn(multisample: *mut NVNmultisampleState) -> i32;

/// `NVNboolean nvnMultisampleStateGetSampleLocationsEnable(const NVNmultisampleState* multisample)`
pub type nvnMultisampleStateGetSampleLocationsEnable =
    unsafe extern "C" fn(multisample: *const NVNmultisampleState) -> NVNboolean;

/// `void nvnMultisampleStateGetSampleLocationsGrid(NVNmultisampleState* multisample, int* w, int* h)`
pub type nvnMultisampleStateGetSampleLocationsGrid =
    unsafe extern "C" fn(multisample: *mut NVNmultisampleState, w: *mut i32, h: *mut i32);

/// `NVNboolean nvnMultisampleStateGetSampleLocationsGridEnable(const NVNmultisampleState* multisample)`
pub type nvnMultisampleStateGetSampleLocationsGridEnable =
    unsafe extern "C" fn(multisample: *const NVNmultisampleState) -> NVNboolean;

/// `int nvnMultisampleStateGetSamples(const NVNmultisampleState* multisample)`
pub type nvnMultisampleStateGetSamples = unsafe extern "C" fn(multisample: *const NVNmultisampleState) -> i32;

/// `void nvnMultisampleStateSetAlphaToCoverageDither(NVNmultisampleState* multisample, NVNboolean enable)`
pub type nvnMultisampleStateSetAlphaToCoverageDither =
    unsafe extern "C" fn(multisample: *mut NVNmultisampleState, enable: NVNboolean);

/// `void nvnMultisampleStateSetAlphaToCoverageEnable(NVNmultisampleState* multisample, NVNboolean enable)`
pub type nvnMultisampleStateSetAlphaToCoverageEnable =
    unsafe extern "C" fn(multisample: *mut NVNmultisampleState, enable: NVNboolean);

/// `void nvnMultisampleStateSetCoverageModulationMode(NVNmultisampleState* multisample, NVNcoverageModulationMode mode)`
pub type nvnMultisampleStateSetCoverageModulationMode =
    unsafe extern "C" fn(multisample: *mut NVNmultisampleState, mode: NVNcoverageModulationMode);

/// `void nvnMultisampleStateSetCoverageToColorEnable(NVNmultisampleState* multisample, NVNboolean enable)`
pub type nvnMultisampleStateSetCoverageToColorEnable =
    unsafe extern "C" fn(multisample: *mut NVNmultisampleState, enable: NVNboolean);

/// `void nvnMultisampleStateSetCoverageToColorOutput(NVNmultisampleState* multisample, int output)`
pub type nvnMultisampleStateSetCoverageToColorOutput =
    unsafe extern "C" fn(multisample: *mut NVNmultisampleState, output: i32);

/// `void nvnMultisampleStateSetDefaults(NVNmultisampleState* multisample)`
pub type nvnMultisampleStateSetDefaults = unsafe extern "C" fn(multisample: *mut NVNmultisampleState);

/// `void nvnMultisampleStateSetMultisampleEnable(NVNmultisampleState* multisample, NVNboolean enable)`
pub type nvnMultisampleStateSetMultisampleEnable =
    unsafe extern "C" fn(multisample: *mut NVNmultisampleState, enable: NVNboolean);

/// `void nvnMultisampleStateSetRasterSamples(NVNmultisampleState* multisample, int samples)`
pub type nvnMultisampleStateSetRasterSamples =
    unsafe extern "C" fn(multisample: *mut NVNmultisampleState, samples: i32);

/// `void nvnMultisampleStateSetSampleLocations(NVNmultisampleState* multisample, int first, int count, const float* locations)`
pub type nvnMultisampleStateSetSampleLocations =
    unsafe extern "C" fn(multisample: *mut NVNmultisampleState, first: i32, count: i32, locations: *const f32);

/// `void nvnMultisampleStateSetSampleLocationsEnable(NVNmultisampleState* multisample, NVNboolean enable)`
pub type nvnMultisampleStateSetSampleLocationsEnable =
    unsafe extern "C" fn(multisample: *mut NVNmultisampleState, enable: NVNboolean);

/// `void nvnMultisampleStateSetSampleLocationsGridEnable(NVNmultisampleState* multisample, NVNboolean enable)`
pub type nvnMultisampleStateSetSampleLocationsGridEnable =
    unsafe extern "C" fn(multisample: *mut NVNmultisampleState, enable: NVNboolean);

/// `void nvnMultisampleStateSetSamples(NVNmultisampleState* multisample, int samples)`
pub type nvnMultisampleStateSetSamples = unsafe extern "C" fn(multisample: *mut NVNmultisampleState, samples: i32);

/// `NVNface nvnPolygonStateGetCullFace(const NVNpolygonState* polygon)`
pub type nvnPolygonStateGetCullFace = unsafe extern "C" fn(polygon: *const NVNpolygonState) -> NVNface;

/// `NVNfrontFace nvnPolygonStateGetFrontFace(const NVNpolygonState* polygon)`
pub type nvnPolygonStateGetFrontFace = unsafe extern "C" fn(polygon: *const NVNpolygonState) -> NVNfrontFace;

/// `NVNpolygonMode nvnPolygonStateGetPolygonMode(const NVNpolygonState* polygon)`
pub type nvnPolygonStateGetPolygonMode = unsafe extern "C" fn(polygon: *const NVNpolygonState) -> NVNpolygonMode;

/// `NVNpolygonOffsetEnable nvnPolygonStateGetPolygonOffsetEnables(const NVNpolygonState* polygon)`
pub type nvnPolygonStateGetPolygonOffsetEnables =
    unsafe extern "C" fn(polygon: *const NVNpolygonState) -> NVNpolygonOffsetEnable;

/// `void nvnPolygonStateSetCullFace(NVNpolygonState* polygon, NVNface face)`
pub type nvnPolygonStateSetCullFace = unsafe extern "C" fn(polygon: *mut NVNpolygonState, face: NVNface);

/// `void nvnPolygonStateSetDefaults(NVNpolygonState* polygon)`
pub type nvnPolygonStateSetDefaults = unsafe extern "C" fn(polygon: *mut NVNpolygonState);

/// `void nvnPolygonStateSetFrontFace(NVNpolygonState* polygon, NVNfrontFace face)`
pub type nvnPolygonStateSetFrontFace = unsafe extern "C" fn(polygon: *mut NVNpolygonState, face: NVNfrontFace);

/// `void nvnPolygonStateSetPolygonMode(NVNpolygonState* polygon, NVNpolygonMode polygonMode)`
pub type nvnPolygonStateSetPolygonMode =
    unsafe extern "C" fn(polygon: *mut NVNpolygonState, polygon_mode: NVNpolygonMode);

/// `void nvnPolygonStateSetPolygonOffsetEnables(NVNpolygonState* polygon, int enables)`
pub type nvnPolygonStateSetPolygonOffsetEnables =
    unsafe extern "C" fn(polygon: *mut NVNpolygonState, enables: NVNpolygonOffsetEnable);

/// `void nvnProgramFinalize(NVNprogram* program)`
pub type nvnProgramFinalize = unsafe extern "C" fn(program: *mut NVNprogram);

/// `NVNboolean nvnProgramInitialize(NVNprogram* program, NVNdevice* device)`
pub type nvnProgramInitialize = unsafe extern "C" fn(program: *mut NVNprogram, device: *mut NVNdevice) -> NVNboolean;

/// `void nvnProgramSetDebugLabel(NVNprogram* program, const char* label)`
pub type nvnProgramSetDebugLabel = unsafe extern "C" fn(program: *mut NVNprogram, label: *const core::ffi::c_char);

/// `void nvnProgramSetSampleShading(NVNprogram* program, NVNsampleShadingMode mode)`
pub type nvnProgramSetSampleShading = unsafe extern "C" fn(program: *mut NVNprogram, mode: NVNsampleShadingMode);

/// `NVNboolean nvnProgramSetShaders(NVNprogram* program, int count, const NVNshaderData* stageData)`
pub type nvnProgramSetShaders =
    unsafe extern "C" fn(program: *mut NVNprogram, count: i32, stage_data: *const NVNshaderData) -> NVNboolean;

/// `NVNboolean nvnProgramSetShadersExt(NVNprogram* program, int count, const NVNshaderDataExt* stageData)`
pub type nvnProgramSetShadersExt =
    unsafe extern "C" fn(program: *mut NVNprogram, count: i32, stage_data: *const NVNshaderDataExt) -> NVNboolean;

/// `NVNboolean nvnProgramSetSubroutineLinkage(NVNprogram* program, int count, const NVNsubroutineLinkageMapPtr* linkageMaps)`
pub type nvnProgramSetSubroutineLinkage = unsafe extern "C" fn(
    program: *mut NVNprogram,
    count: i32,
    linkage_maps: *const NVNsubroutineLinkageMapPtr,
) -> NVNboolean;

/// `NVNqueueAcquireTextureResult nvnQueueAcquireTexture(NVNqueue* queue, NVNwindow* window, int* textureIndex)`
pub type nvnQueueAcquireTexture = unsafe extern "C" fn(
    queue: *mut NVNqueue,
    window: *mut NVNwindow,
    texture_index: *mut i32,
) -> NVNqueueAcquireTextureResult;

/// `NVNboolean nvnQueueBuilderGetCommandFlushThreshold(const NVNqueueBuilder* builder, int* size)`
pub type nvnQueueBuilderGetCommandFlushThreshold =
    unsafe extern "C" fn(builder: *const NVNqueueBuilder, size: *mut i32) -> NVNboolean;

/// `NVNboolean nvnQueueBuilderGetCommandMemorySize(const NVNqueueBuilder* builder, int* size)`
pub type nvnQueueBuilderGetCommandMemorySize =
    unsafe extern "C" fn(builder: *const NVNqueueBuilder, size: *mut i32) -> NVNboolean;

/// `NVNboolean nvnQueueBuilderGetComputeMemorySize(const NVNqueueBuilder* builder, int* size)`
pub type nvnQueueBuilderGetComputeMemorySize =
    unsafe extern "C" fn(builder: *const NVNqueueBuilder, size: *mut i32) -> NVNboolean;

/// `NVNboolean nvnQueueBuilderGetControlMemorySize(const NVNqueueBuilder* builder, int* size)`
pub type nvnQueueBuilderGetControlMemorySize =
    unsafe extern "C" fn(builder: *const NVNqueueBuilder, size: *mut i32) -> NVNboolean;

/// `const NVNdevice* nvnQueueBuilderGetDevice(const NVNqueueBuilder* builder)`
pub type nvnQueueBuilderGetDevice = unsafe extern "C" fn(builder: *const NVNqueueBuilder) -> *const NVNdevice;

/// `int nvnQueueBuilderGetFlags(const NVNqueueBuilder* builder)`
pub type nvnQueueBuilderGetFlags = unsafe extern "C" fn(builder: *const NVNqueueBuilder) -> i32;

/// `void* nvnQueueBuilderGetMemory(const NVNqueueBuilder* builder)`
pub type nvnQueueBuilderGetMemory = unsafe extern "C" fn(builder: *const NVNqueueBuilder) -> *mut core::ffi::c_void;

/// `int nvnQueueBuilderGetMemorySize(const NVNqueueBuilder* builder)`
pub type nvnQueueBuilderGetMemorySize = unsafe extern "C" fn(builder: *const NVNqueueBuilder) -> i32;

/// `size_t nvnQueueBuilderGetQueueMemorySize(const NVNqueueBuilder* builder)`
pub type nvnQueueBuilderGetQueueMemorySize = unsafe extern "C" fn(builder: *const NVNqueueBuilder) -> usize;

/// `NVNqueuePriority nvnQueueBuilderGetQueuePriority(const NVNqueueBuilder* builder)`
pub type nvnQueueBuilderGetQueuePriority = unsafe extern "C" fn(builder: *const NVNqueueBuilder) -> NVNqueuePriority;

/// `NVNboolean nvnQueueBuilderGetRayTracingMemorySize(const NVNqueueBuilder* builder, int* size)`
pub type nvnQueueBuilderGetRayTracingMemorySize =
    unsafe extern "C" fn(builder: *const NVNqueueBuilder, size: *mut i32) -> NVNboolean;

/// `void nvnQueueBuilderSetCommandFlushThreshold(NVNqueueBuilder* builder, size_t size)`
pub type nvnQueueBuilderSetCommandFlushThreshold = unsafe extern "C" fn(builder: *mut NVNqueueBuilder, size: usize);

/// `void nvnQueueBuilderSetCommandMemorySize(NVNqueueBuilder* builder, size_t size)`
pub type nvnQueueBuilderSetCommandMemorySize = unsafe extern "C" fn(builder: *mut NVNqueueBuilder, size: usize);

/// `void nvnQueueBuilderSetComputeMemorySize(NVNqueueBuilder* builder, size_t size)`
pub type nvnQueueBuilderSetComputeMemorySize = unsafe extern "C" fn(builder: *mut NVNqueueBuilder, size: usize);

/// `void nvnQueueBuilderSetControlMemorySize(NVNqueueBuilder* builder, size_t size)`
pub type nvnQueueBuilderSetControlMemorySize = unsafe extern "C" fn(builder: *mut NVNqueueBuilder, size: usize);

/// `void nvnQueueBuilderSetDefaults(NVNqueueBuilder* builder)`
pub type nvnQueueBuilderSetDefaults = unsafe extern "C" fn(builder: *mut NVNqueueBuilder);

/// `void nvnQueueBuilderSetDevice(NVNqueueBuilder* builder, NVNdevice* device)`
pub type nvnQueueBuilderSetDevice = unsafe extern "C" fn(builder: *mut NVNqueueBuilder, device: *mut NVNdevice);

/// `void nvnQueueBuilderSetFlags(NVNqueueBuilder* builder, int flags)`
pub type nvnQueueBuilderSetFlags = unsafe extern "C" fn(builder: *mut NVNqueueBuilder, flags: NVNqueueBuilderFlags);

/// `void nvnQueueBuilderSetQueueMemory(NVNqueueBuilder* builder, void* memory, size_t size)`
pub type nvnQueueBuilderSetQueueMemory =
    unsafe extern "C" fn(builder: *mut NVNqueueBuilder, memory: *mut core::ffi::c_void, size: usize);

/// `void nvnQueueBuilderSetQueuePriority(NVNqueueBuilder* builder, NVNqueuePriority priority)`
pub type nvnQueueBuilderSetQueuePriority =
    unsafe extern "C" fn(builder: *mut NVNqueueBuilder, priority: NVNqueuePriority);

/// `void nvnQueueBuilderSetRayTracingMemorySize(NVNqueueBuilder* builder, size_t size)` (prototype assumed)
pub type nvnQueueBuilderSetRayTracingMemorySize = unsafe extern "C" fn(builder: *mut NVNqueueBuilder, size: usize);

/// `void nvnQueueFenceSync(NVNqueue* queue, NVNsync* sync, NVNsyncCondition condition, int flags)`
pub type nvnQueueFenceSync =
    unsafe extern "C" fn(queue: *mut NVNqueue, sync: *mut NVNsync, condition: NVNsyncCondition, flags: NVNsyncFlagBits);

/// `void nvnQueueFinalize(NVNqueue* queue)`
pub type nvnQueueFinalize = unsafe extern "C" fn(queue: *mut NVNqueue);

/// `void nvnQueueFinish(NVNqueue* queue)`
pub type nvnQueueFinish = unsafe extern "C" fn(queue: *mut NVNqueue);

/// `void nvnQueueFlush(NVNqueue* queue)`
pub type nvnQueueFlush = unsafe extern "C" fn(queue: *mut NVNqueue);

/// `NVNqueueGetErrorResult nvnQueueGetError(NVNqueue* queue, NVNqueueErrorInfo* info)`
pub type nvnQueueGetError =
    unsafe extern "C" fn(queue: *mut NVNqueue, info: *mut NVNqueueErrorInfo) -> NVNqueueGetErrorResult;

/// `size_t nvnQueueGetTotalCommandMemoryUsed(NVNqueue* queue)`
pub type nvnQueueGetTotalCommandMemoryUsed = unsafe extern "C" fn(queue: *mut NVNqueue) -> usize;

/// `size_t nvnQueueGetTotalComputeMemoryUsed(NVNqueue* queue)`
pub type nvnQueueGetTotalComputeMemoryUsed = unsafe extern "C" fn(queue: *mut NVNqueue) -> usize;

/// `size_t nvnQueueGetTotalControlMemoryUsed(NVNqueue* queue)`
pub type nvnQueueGetTotalControlMemoryUsed = unsafe extern "C" fn(queue: *mut NVNqueue) -> usize;

/// `NVNboolean nvnQueueInitialize(NVNqueue* queue, const NVNqueueBuilder* builder)`
pub type nvnQueueInitialize = unsafe extern "C" fn(queue: *mut NVNqueue, builder: *const NVNqueueBuilder) -> NVNboolean;

/// `void nvnQueuePresentTexture(NVNqueue* queue, NVNwindow* window, int textureIndex)`
pub type nvnQueuePresentTexture =
    unsafe extern "C" fn(queue: *mut NVNqueue, window: *mut NVNwindow, texture_index: i32);

/// `void nvnQueueResetMemoryUsageCounts(NVNqueue* queue)`
pub type nvnQueueResetMemoryUsageCounts = unsafe extern "C" fn(queue: *mut NVNqueue);

/// `void nvnQueueSetDebugLabel(NVNqueue* queue, const char* label)`
pub type nvnQueueSetDebugLabel = unsafe extern "C" fn(queue: *mut NVNqueue, label: *const core::ffi::c_char);

/// `void nvnQueueSubmitCommands(NVNqueue* queue, int numCommands, const NVNcommandHandle* handles)`
pub type nvnQueueSubmitCommands =
    unsafe extern "C" fn(queue: *mut NVNqueue, num_commands: i32, handles: *const NVNcommandHandle);

/// `NVNboolean nvnQueueWaitSync(NVNqueue* queue, const NVNsync* sync)`
pub type nvnQueueWaitSync = unsafe extern "C" fn(queue: *mut NVNqueue, sync: *const NVNsync) -> NVNboolean;

/// `void nvnSamplerBuilderGetBorderColor(const NVNsamplerBuilder* builder, float* borderColor)`
pub type nvnSamplerBuilderGetBorderColor =
    unsafe extern "C" fn(builder: *const NVNsamplerBuilder, border_color: *mut f32);

/// `void nvnSamplerBuilderGetBorderColori(const NVNsamplerBuilder* builder, int* borderColor)`
pub type nvnSamplerBuilderGetBorderColori =
    unsafe extern "C" fn(builder: *const NVNsamplerBuilder, border_color: *mut i32);

/// `void nvnSamplerBuilderGetBorderColorui(const NVNsamplerBuilder* builder, uint32_t* borderColor)`
pub type nvnSamplerBuilderGetBorderColorui =
    unsafe extern "C" fn(builder: *const NVNsamplerBuilder, border_color: *mut u32);

/// `void nvnSamplerBuilderGetCompare(const NVNsamplerBuilder* builder, NVNcompareMode* mode, NVNcompareFunc* func)`
pub type nvnSamplerBuilderGetCompare =
    unsafe extern "C" fn(builder: *const NVNsamplerBuilder, mode: *mut NVNcompareMode, func: *mut NVNcompareFunc);

/// `const NVNdevice* nvnSamplerBuilderGetDevice(const NVNsamplerBuilder* builder)`
pub type nvnSamplerBuilderGetDevice = unsafe extern "C" fn(builder: *const NVNsamplerBuilder) -> *const NVNdevice;

/// `float nvnSamplerBuilderGetLodBias(const NVNsamplerBuilder* builder)`
pub type nvnSamplerBuilderGetLodBias = unsafe extern "C" fn(builder: *const NVNsamplerBuilder) -> f32;

/// `void nvnSamplerBuilderGetLodClamp(const NVNsamplerBuilder* builder, float* min, float* max)`
pub type nvnSamplerBuilderGetLodClamp =
    unsafe extern "C" fn(builder: *const NVNsamplerBuilder, min: *mut f32, max: *mut f32);

/// `float nvnSamplerBuilderGetLodSnap(const NVNsamplerBuilder* builder)`
pub type nvnSamplerBuilderGetLodSnap = unsafe extern "C" fn(builder: *const NVNsamplerBuilder) -> f32;

/// `float nvnSamplerBuilderGetMaxAnisotropy(const NVNsamplerBuilder* builder)`
pub type nvnSamplerBuilderGetMaxAnisotropy = unsafe extern "C" fn(builder: *const NVNsamplerBuilder) -> f32;

/// `void nvnSamplerBuilderGetMinMagFilter(const NVNsamplerBuilder* builder, NVNminFilter* min, NVNmagFilter* mag)`
pub type nvnSamplerBuilderGetMinMagFilter =
    unsafe extern "C" fn(builder: *const NVNsamplerBuilder, min: *mut NVNminFilter, mag: *mut NVNmagFilter);

/// `NVNsamplerReduction nvnSamplerBuilderGetReductionFilter(const NVNsamplerBuilder* builder)`
pub type nvnSamplerBuilderGetReductionFilter =
    unsafe extern "C" fn(builder: *const NVNsamplerBuilder) -> NVNsamplerReduction;

/// `void nvnSamplerBuilderGetWrapMode(const NVNsamplerBuilder* builder, NVNwrapMode* s, NVNwrapMode* t, NVNwrapMode* r)`
pub type nvnSamplerBuilderGetWrapMode = unsafe extern "C" fn(
    builder: *const NVNsamplerBuilder,
    s: *mut NVNwrapMode,
    t: *mut NVNwrapMode,
    r: *mut NVNwrapMode,
);

/// `void nvnSamplerBuilderSetBorderColor(NVNsamplerBuilder* builder, const float* borderColor)`
pub type nvnSamplerBuilderSetBorderColor =
    unsafe extern "C" fn(builder: *mut NVNsamplerBuilder, border_color: *const f32);

/// `void nvnSamplerBuilderSetBorderColori(NVNsamplerBuilder* builder, const int* borderColor)`
pub type nvnSamplerBuilderSetBorderColori =
    unsafe extern "C" fn(builder: *mut NVNsamplerBuilder, border_color: *const i32);

/// `void nvnSamplerBuilderSetBorderColorui(NVNsamplerBuilder* builder, const uint32_t* borderColor)`
pub type nvnSamplerBuilderSetBorderColorui =
    unsafe extern "C" fn(builder: *mut NVNsamplerBuilder, border_color: *const u32);

/// `void nvnSamplerBuilderSetCompare(NVNsamplerBuilder* builder, NVNcompareMode mode, NVNcompareFunc func)`
pub type nvnSamplerBuilderSetCompare =
    unsafe extern "C" fn(builder: *mut NVNsamplerBuilder, mode: NVNcompareMode, func: NVNcompareFunc);

/// `void nvnSamplerBuilderSetDefaults(NVNsamplerBuilder* builder)`
pub type nvnSamplerBuilderSetDefaults = unsafe extern "C" fn(builder: *mut NVNsamplerBuilder);

/// `void nvnSamplerBuilderSetDevice(NVNsamplerBuilder* builder, NVNdevice* device)`
pub type nvnSamplerBuilderSetDevice = unsafe extern "C" fn(builder: *mut NVNsamplerBuilder, device: *mut NVNdevice);

/// `void nvnSamplerBuilderSetLodBias(NVNsamplerBuilder* builder, float bias)`
pub type nvnSamplerBuilderSetLodBias = unsafe extern "C" fn(builder: *mut NVNsamplerBuilder, bias: f32);

/// `void nvnSamplerBuilderSetLodClamp(NVNsamplerBuilder* builder, float min, float max)`
pub type nvnSamplerBuilderSetLodClamp = unsafe extern "C" fn(builder: *mut NVNsamplerBuilder, min: f32, max: f32);

/// `void nvnSamplerBuilderSetLodSnap(NVNsamplerBuilder* builder, float lodSnap)`
pub type nvnSamplerBuilderSetLodSnap = unsafe extern "C" fn(builder: *mut NVNsamplerBuilder, lod_snap: f32);

/// `void nvnSamplerBuilderSetMaxAnisotropy(NVNsamplerBuilder* builder, float maxAniso)`
pub type nvnSamplerBuilderSetMaxAnisotropy = unsafe extern "C" fn(builder: *mut NVNsamplerBuilder, max_aniso: f32);

/// `void nvnSamplerBuilderSetMinMagFilter(NVNsamplerBuilder* builder, NVNminFilter min, NVNmagFilter mag)`
pub type nvnSamplerBuilderSetMinMagFilter =
    unsafe extern "C" fn(builder: *mut NVNsamplerBuilder, min: NVNminFilter, mag: NVNmagFilter);

/// `void nvnSamplerBuilderSetReductionFilter(NVNsamplerBuilder* builder, NVNsamplerReduction filter)`
pub type nvnSamplerBuilderSetReductionFilter =
    unsafe extern "C" fn(builder: *mut NVNsamplerBuilder, filter: NVNsamplerReduction);

/// `void nvnSamplerBuilderSetWrapMode(NVNsamplerBuilder* builder, NVNwrapMode s, NVNwrapMode t, NVNwrapMode r)`
pub type nvnSamplerBuilderSetWrapMode =
    unsafe extern "C" fn(builder: *mut NVNsamplerBuilder, s: NVNwrapMode, t: NVNwrapMode, r: NVNwrapMode);

/// `NVNboolean nvnSamplerCompare(const NVNsampler* sampler1, const NVNsampler* sampler2)`
pub type nvnSamplerCompare =
    unsafe extern "C" fn(sampler1: *const NVNsampler, sampler2: *const NVNsampler) -> NVNboolean;

/// `void nvnSamplerFinalize(NVNsampler* sampler)`
pub type nvnSamplerFinalize = unsafe extern "C" fn(sampler: *mut NVNsampler);

/// `void nvnSamplerGetBorderColor(const NVNsampler* sampler, float* borderColor)`
pub type nvnSamplerGetBorderColor = unsafe extern "C" fn(sampler: *const NVNsampler, border_color: *mut f32);

/// `void nvnSamplerGetBorderColori(const NVNsampler* sampler, int* borderColor)`
pub type nvnSamplerGetBorderColori = unsafe extern "C" fn(sampler: *const NVNsampler, border_color: *mut i32);

/// `void nvnSamplerGetBorderColorui(const NVNsampler* sampler, uint32_t* borderColor)`
pub type nvnSamplerGetBorderColorui = unsafe extern "C" fn(sampler: *const NVNsampler, border_color: *mut u32);

/// `void nvnSamplerGetCompare(const NVNsampler* sampler, NVNcompareMode* mode, NVNcompareFunc* func)`
pub type nvnSamplerGetCompare =
    unsafe extern "C" fn(sampler: *const NVNsampler, mode: *mut NVNcompareMode, func: *mut NVNcompareFunc);

/// `uint64_t nvnSamplerGetDebugID(const NVNsampler* sampler)`
pub type nvnSamplerGetDebugID = unsafe extern "C" fn(sampler: *const NVNsampler) -> u64;

/// `float nvnSamplerGetLodBias(const NVNsampler* sampler)`
pub type nvnSamplerGetLodBias = unsafe extern "C" fn(sampler: *const NVNsampler) -> f32;

/// `void nvnSamplerGetLodClamp(const NVNsampler* sampler, float* min, float* max)`
pub type nvnSamplerGetLodClamp = unsafe extern "C" fn(sampler: *const NVNsampler, min: *mut f32, max: *mut f32);

/// `float nvnSamplerGetMaxAnisotropy(const NVNsampler* sampler)`
pub type nvnSamplerGetMaxAnisotropy = unsafe extern "C" fn(sampler: *const NVNsampler) -> f32;

/// `void nvnSamplerGetMinMagFilter(const NVNsampler* sampler, NVNminFilter* min, NVNmagFilter* mag)`
pub type nvnSamplerGetMinMagFilter =
    unsafe extern "C" fn(sampler: *const NVNsampler, min: *mut NVNminFilter, mag: *mut NVNmagFilter);

/// `NVNsamplerReduction nvnSamplerGetReductionFilter(const NVNsampler* sampler)`
pub type nvnSamplerGetReductionFilter = unsafe extern "C" fn(sampler: *const NVNsampler) -> NVNsamplerReduction;

/// `void nvnSamplerGetWrapMode(const NVNsampler* sampler, NVNwrapMode* s, NVNwrapMode* t, NVNwrapMode* r)`
pub type nvnSamplerGetWrapMode =
    unsafe extern "C" fn(sampler: *const NVNsampler, s: *mut NVNwrapMode, t: *mut NVNwrapMode, r: *mut NVNwrapMode);

/// `NVNboolean nvnSamplerInitialize(NVNsampler* sampler, const NVNsamplerBuilder* builder)`
pub type nvnSamplerInitialize =
    unsafe extern "C" fn(sampler: *mut NVNsampler, builder: *const NVNsamplerBuilder) -> NVNboolean;

/// `void nvnSamplerPoolFinalize(NVNsamplerPool* pool)`
pub type nvnSamplerPoolFinalize = unsafe extern "C" fn(pool: *mut NVNsamplerPool);

/// `ptrdiff_t nvnSamplerPoolGetMemoryOffset(const NVNsamplerPool* pool)`
pub type nvnSamplerPoolGetMemoryOffset = unsafe extern "C" fn(pool: *const NVNsamplerPool) -> isize;

/// `const NVNmemoryPool* nvnSamplerPoolGetMemoryPool(const NVNsamplerPool* pool)`
pub type nvnSamplerPoolGetMemoryPool = unsafe extern "C" fn(pool: *const NVNsamplerPool) -> *const NVNmemoryPool;

/// `int nvnSamplerPoolGetSize(const NVNsamplerPool* pool)`
pub type nvnSamplerPoolGetSize = unsafe extern "C" fn(pool: *const NVNsamplerPool) -> i32;

/// `NVNboolean nvnSamplerPoolInitialize(NVNsamplerPool* samplerPool, const NVNmemoryPool* memoryPool, ptrdiff_t offset, int numDescriptors)`
pub type nvnSamplerPoolInitialize = unsafe extern "C" fn(
    sampler_pool: *mut NVNsamplerPool,
    memory_pool: *const NVNmemoryPool,
    offset: isize,
    num_descriptors: i32,
) -> NVNboolean;

/// `void nvnSamplerPoolRegisterSampler(const NVNsamplerPool* pool, int id, const NVNsampler* sampler)`
pub type nvnSamplerPoolRegisterSampler =
    unsafe extern "C" fn(pool: *const NVNsamplerPool, id: i32, sampler: *const NVNsampler);

/// `void nvnSamplerPoolRegisterSamplerBuilder(const NVNsamplerPool* pool, int id, const NVNsamplerBuilder* builder)`
pub type nvnSamplerPoolRegisterSamplerBuilder =
    unsafe extern "C" fn(pool: *const NVNsamplerPool, id: i32, builder: *const NVNsamplerBuilder);

/// `void nvnSamplerPoolSetDebugLabel(NVNsamplerPool* pool, const char* label)`
pub type nvnSamplerPoolSetDebugLabel = unsafe extern "C" fn(pool: *mut NVNsamplerPool, label: *const core::ffi::c_char);

/// `void nvnSamplerSetDebugLabel(NVNsampler* sampler, const char* label)`
pub type nvnSamplerSetDebugLabel = unsafe extern "C" fn(sampler: *mut NVNsampler, label: *const core::ffi::c_char);

/// `void nvnSetExternalDebuggerEnabledNVX(NVNboolean enable)` (prototype assumed)
pub type nvnSetExternalDebuggerEnabledNVX = unsafe extern "C" fn(enable: NVNboolean);

/// `void nvnSyncFinalize(NVNsync* sync)`
pub type nvnSyncFinalize = unsafe extern "C" fn(sync: *mut NVNsync);

/// `NVNboolean nvnSyncInitialize(NVNsync* sync, NVNdevice* device)`
pub type nvnSyncInitialize = unsafe extern "C" fn(sync: *mut NVNsync, device: *mut NVNdevice) -> NVNboolean;

/// `void nvnSyncSetDebugLabel(NVNsync* sync, const char* label)`
pub type nvnSyncSetDebugLabel = unsafe extern "C" fn(sync: *mut NVNsync, label: *const core::ffi::c_char);

/// `NVNsyncWaitResult nvnSyncWait(const NVNsync* sync, uint64_t timeoutNs)`
pub type nvnSyncWait = unsafe extern "C" fn(sync: *const NVNsync, timeout_ns: u64) -> NVNsyncWaitResult;

/// `int nvnTextureBuilderGetDepth(const NVNtextureBuilder* builder)`
pub type nvnTextureBuilderGetDepth = unsafe extern "C" fn(builder: *const NVNtextureBuilder) -> i32;

/// `NVNtextureDepthStencilMode nvnTextureBuilderGetDepthStencilMode(const NVNtextureBuilder* builder)`
pub type nvnTextureBuilderGetDepthStencilMode =
    unsafe extern "C" fn(builder: *const NVNtextureBuilder) -> NVNtextureDepthStencilMode;

/// `const NVNdevice* nvnTextureBuilderGetDevice(const NVNtextureBuilder* builder)`
pub type nvnTextureBuilderGetDevice = unsafe extern "C" fn(builder: *const NVNtextureBuilder) -> *const NVNdevice;

/// `NVNtextureFlags nvnTextureBuilderGetFlags(const NVNtextureBuilder* builder)`
pub type nvnTextureBuilderGetFlags = unsafe extern "C" fn(builder: *const NVNtextureBuilder) -> NVNtextureFlags;

/// `NVNformat nvnTextureBuilderGetFormat(const NVNtextureBuilder* builder)`
pub type nvnTextureBuilderGetFormat = unsafe extern "C" fn(builder: *const NVNtextureBuilder) -> NVNformat;

/// `uint32_t nvnTextureBuilderGetGLTextureName(const NVNtextureBuilder* builder)`
pub type nvnTextureBuilderGetGLTextureName = unsafe extern "C" fn(builder: *const NVNtextureBuilder) -> u32;

/// `int nvnTextureBuilderGetHeight(const NVNtextureBuilder* builder)`
pub type nvnTextureBuilderGetHeight = unsafe extern "C" fn(builder: *const NVNtextureBuilder) -> i32;

/// `int nvnTextureBuilderGetLevels(const NVNtextureBuilder* builder)`
pub type nvnTextureBuilderGetLevels = unsafe extern "C" fn(builder: *const NVNtextureBuilder) -> i32;

/// `ptrdiff_t nvnTextureBuilderGetMemoryOffset(const NVNtextureBuilder* builder)`
pub type nvnTextureBuilderGetMemoryOffset = unsafe extern "C" fn(builder: *const NVNtextureBuilder) -> isize;

/// `NVNmemoryPool* nvnTextureBuilderGetMemoryPool(const NVNtextureBuilder* builder)`
pub type nvnTextureBuilderGetMemoryPool = unsafe extern "C" fn(builder: *const NVNtextureBuilder) -> *mut NVNmemoryPool;

/// `const void* nvnTextureBuilderGetPackagedTextureData(const NVNtextureBuilder* builder)`
pub type nvnTextureBuilderGetPackagedTextureData =
    unsafe extern "C" fn(builder: *const NVNtextureBuilder) -> *const core::ffi::c_void;

/// `NVNboolean nvnTextureBuilderGetPackagedTextureLayout(const NVNtextureBuilder* builder, NVNpackagedTextureLayout* layout)`
pub type nvnTextureBuilderGetPackagedTextureLayout =
    unsafe extern "C" fn(builder: *const NVNtextureBuilder, layout: *mut NVNpackagedTextureLayout) -> NVNboolean;

/// `NVNrawStorageClass nvnTextureBuilderGetRawStorageClass(const NVNtextureBuilder* builder)`
pub type nvnTextureBuilderGetRawStorageClass =
    unsafe extern "C" fn(builder: *const NVNtextureBuilder) -> NVNrawStorageClass;

/// `int nvnTextureBuilderGetSamples(const NVNtextureBuilder* builder)`
pub type nvnTextureBuilderGetSamples = unsafe extern "C" fn(builder: *const NVNtextureBuilder) -> i32;

/// `void nvnTextureBuilderGetSparseTileLayout(const NVNtextureBuilder* builder, NVNtextureSparseTileLayout* layout)`
pub type nvnTextureBuilderGetSparseTileLayout =
    unsafe extern "C" fn(builder: *const NVNtextureBuilder, layout: *mut NVNtextureSparseTileLayout);

/// `size_t nvnTextureBuilderGetStorageAlignment(const NVNtextureBuilder* builder)`
pub type nvnTextureBuilderGetStorageAlignment = unsafe extern "C" fn(builder: *const NVNtextureBuilder) -> usize;

/// `NVNstorageClass nvnTextureBuilderGetStorageClass(const NVNtextureBuilder* builder)`
pub type nvnTextureBuilderGetStorageClass = unsafe extern "C" fn(builder: *const NVNtextureBuilder) -> NVNstorageClass;

/// `size_t nvnTextureBuilderGetStorageSize(const NVNtextureBuilder* builder)`
pub type nvnTextureBuilderGetStorageSize = unsafe extern "C" fn(builder: *const NVNtextureBuilder) -> usize;

/// `ptrdiff_t nvnTextureBuilderGetStride(const NVNtextureBuilder* builder)`
pub type nvnTextureBuilderGetStride = unsafe extern "C" fn(builder: *const NVNtextureBuilder) -> isize;

/// `void nvnTextureBuilderGetSwizzle(const NVNtextureBuilder* builder, NVNtextureSwizzle* r, NVNtextureSwizzle* g, NVNtextureSwizzle* b, NVNtextureSwizzle* a)`
pub type nvnTextureBuilderGetSwizzle = unsafe extern "C" fn(
    builder: *const NVNtextureBuilder,
    r: *mut NVNtextureSwizzle,
    g: *mut NVNtextureSwizzle,
    b: *mut NVNtextureSwizzle,
    a: *mut NVNtextureSwizzle,
);

/// `NVNtextureTarget nvnTextureBuilderGetTarget(const NVNtextureBuilder* builder)`
pub type nvnTextureBuilderGetTarget = unsafe extern "C" fn(builder: *const NVNtextureBuilder) -> NVNtextureTarget;

/// `int nvnTextureBuilderGetWidth(const NVNtextureBuilder* builder)`
pub type nvnTextureBuilderGetWidth = unsafe extern "C" fn(builder: *const NVNtextureBuilder) -> i32;

/// `size_t nvnTextureBuilderGetZCullStorageSize(const NVNtextureBuilder* builder)`
pub type nvnTextureBuilderGetZCullStorageSize = unsafe extern "C" fn(builder: *const NVNtextureBuilder) -> usize;

/// `void nvnTextureBuilderSetDefaults(NVNtextureBuilder* builder)`
pub type nvnTextureBuilderSetDefaults = unsafe extern "C" fn(builder: *mut NVNtextureBuilder);

/// `void nvnTextureBuilderSetDepth(NVNtextureBuilder* builder, int depth)`
pub type nvnTextureBuilderSetDepth = unsafe extern "C" fn(builder: *mut NVNtextureBuilder, depth: i32);

/// `void nvnTextureBuilderSetDepthStencilMode(NVNtextureBuilder* builder, NVNtextureDepthStencilMode mode)`
pub type nvnTextureBuilderSetDepthStencilMode =
    unsafe extern "C" fn(builder: *mut NVNtextureBuilder, mode: NVNtextureDepthStencilMode);

/// `void nvnTextureBuilderSetDevice(NVNtextureBuilder* builder, NVNdevice* device)`
pub type nvnTextureBuilderSetDevice = unsafe extern "C" fn(builder: *mut NVNtextureBuilder, device: *mut NVNdevice);

/// `void nvnTextureBuilderSetFlags(NVNtextureBuilder* builder, int flags)`
pub type nvnTextureBuilderSetFlags = unsafe extern "C" fn(builder: *mut NVNtextureBuilder, flags: NVNtextureFlags);

/// `void nvnTextureBuilderSetFormat(NVNtextureBuilder* builder, NVNformat format)`
pub type nvnTextureBuilderSetFormat = unsafe extern "C" fn(builder: *mut NVNtextureBuilder, format: NVNformat);

/// `void nvnTextureBuilderSetGLTextureName(NVNtextureBuilder* builder, uint32_t name)`
pub type nvnTextureBuilderSetGLTextureName = unsafe extern "C" fn(builder: *mut NVNtextureBuilder, name: u32);

/// `void nvnTextureBuilderSetHeight(NVNtextureBuilder* builder, int height)`
pub type nvnTextureBuilderSetHeight = unsafe extern "C" fn(builder: *mut NVNtextureBuilder, height: i32);

/// `void nvnTextureBuilderSetLevels(NVNtextureBuilder* builder, int numLevels)`
pub type nvnTextureBuilderSetLevels = unsafe extern "C" fn(builder: *mut NVNtextureBuilder, num_levels: i32);

/// `void nvnTextureBuilderSetPackagedTextureData(NVNtextureBuilder* builder, const void* data)`
pub type nvnTextureBuilderSetPackagedTextureData =
    unsafe extern "C" fn(builder: *mut NVNtextureBuilder, data: *const core::ffi::c_void);

/// `void nvnTextureBuilderSetPackagedTextureLayout(NVNtextureBuilder* builder, const NVNpackagedTextureLayout* layout)`
pub type nvnTextureBuilderSetPackagedTextureLayout =
    unsafe extern "C" fn(builder: *mut NVNtextureBuilder, layout: *const NVNpackagedTextureLayout);

/// `void nvnTextureBuilderSetSamples(NVNtextureBuilder* builder, int samples)`
pub type nvnTextureBuilderSetSamples = unsafe extern "C" fn(builder: *mut NVNtextureBuilder, samples: i32);

/// `void nvnTextureBuilderSetSize1D(NVNtextureBuilder* builder, int size)`
pub type nvnTextureBuilderSetSize1D = unsafe extern "C" fn(builder: *mut NVNtextureBuilder, size: i32);

/// `void nvnTextureBuilderSetSize2D(NVNtextureBuilder* builder, int width, int height)`
pub type nvnTextureBuilderSetSize2D = unsafe extern "C" fn(builder: *mut NVNtextureBuilder, width: i32, height: i32);

/// `void nvnTextureBuilderSetSize3D(NVNtextureBuilder* builder, int width, int height, int depth)`
pub type nvnTextureBuilderSetSize3D =
    unsafe extern "C" fn(builder: *mut NVNtextureBuilder, width: i32, height: i32, depth: i32);

/// `void nvnTextureBuilderSetStorage(NVNtextureBuilder* builder, NVNmemoryPool* pool, ptrdiff_t offset)`
pub type nvnTextureBuilderSetStorage =
    unsafe extern "C" fn(builder: *mut NVNtextureBuilder, pool: *mut NVNmemoryPool, offset: isize);

/// `void nvnTextureBuilderSetStride(NVNtextureBuilder* builder, ptrdiff_t stride)`
pub type nvnTextureBuilderSetStride = unsafe extern "C" fn(builder: *mut NVNtextureBuilder, stride: isize);

/// `void nvnTextureBuilderSetSwizzle(NVNtextureBuilder* builder, NVNtextureSwizzle r, NVNtextureSwizzle g, NVNtextureSwizzle b, NVNtextureSwizzle a)`
pub type nvnTextureBuilderSetSwizzle = unsafe extern "C" fn(
    builder: *mut NVNtextureBuilder,
    r: NVNtextureSwizzle,
    g: NVNtextureSwizzle,
    b: NVNtextureSwizzle,
    a: NVNtextureSwizzle,
);

/// `void nvnTextureBuilderSetTarget(NVNtextureBuilder* builder, NVNtextureTarget target)`
pub type nvnTextureBuilderSetTarget = unsafe extern "C" fn(builder: *mut NVNtextureBuilder, target: NVNtextureTarget);

/// `void nvnTextureBuilderSetWidth(NVNtextureBuilder* builder, int width)`
pub type nvnTextureBuilderSetWidth = unsafe extern "C" fn(builder: *mut NVNtextureBuilder, width: i32);

/// `NVNboolean nvnTextureCompare(const NVNtexture* texture1, const NVNtexture* texture2)`
pub type nvnTextureCompare =
    unsafe extern "C" fn(texture1: *const NVNtexture, texture2: *const NVNtexture) -> NVNboolean;

/// `void nvnTextureFinalize(NVNtexture* texture)`
pub type nvnTextureFinalize = unsafe extern "C" fn(texture: *mut NVNtexture);

/// `void nvnTextureFlushTexels(const NVNtexture* texture, const NVNtextureView* view, const NVNcopyRegion* region)`
pub type nvnTextureFlushTexels =
    unsafe extern "C" fn(texture: *const NVNtexture, view: *const NVNtextureView, region: *const NVNcopyRegion);

/// `uint64_t nvnTextureGetDebugID(const NVNtexture* texture)`
pub type nvnTextureGetDebugID = unsafe extern "C" fn(texture: *const NVNtexture) -> u64;

/// `int nvnTextureGetDepth(const NVNtexture* texture)`
pub type nvnTextureGetDepth = unsafe extern "C" fn(texture: *const NVNtexture) -> i32;

/// `NVNtextureDepthStencilMode nvnTextureGetDepthStencilMode(const NVNtexture* texture)`
pub type nvnTextureGetDepthStencilMode = unsafe extern "C" fn(texture: *const NVNtexture) -> NVNtextureDepthStencilMode;

/// `NVNtextureFlags nvnTextureGetFlags(const NVNtexture* texture)`
pub type nvnTextureGetFlags = unsafe extern "C" fn(texture: *const NVNtexture) -> NVNtextureFlags;

/// `NVNformat nvnTextureGetFormat(const NVNtexture* texture)`
pub type nvnTextureGetFormat = unsafe extern "C" fn(texture: *const NVNtexture) -> NVNformat;

/// `int nvnTextureGetHeight(const NVNtexture* texture)`
pub type nvnTextureGetHeight = unsafe extern "C" fn(texture: *const NVNtexture) -> i32;

/// `int nvnTextureGetLevels(const NVNtexture* texture)`
pub type nvnTextureGetLevels = unsafe extern "C" fn(texture: *const NVNtexture) -> i32;

/// `ptrdiff_t nvnTextureGetMemoryOffset(const NVNtexture* texture)`
pub type nvnTextureGetMemoryOffset = unsafe extern "C" fn(texture: *const NVNtexture) -> isize;

/// `NVNmemoryPool* nvnTextureGetMemoryPool(const NVNtexture* texture)`
pub type nvnTextureGetMemoryPool = unsafe extern "C" fn(texture: *const NVNtexture) -> *mut NVNmemoryPool;

/// `NVNrawStorageClass nvnTextureGetRawStorageClass(const NVNtexture* texture)`
pub type nvnTextureGetRawStorageClass = unsafe extern "C" fn(texture: *const NVNtexture) -> NVNrawStorageClass;

/// `int nvnTextureGetSamples(const NVNtexture* texture)`
pub type nvnTextureGetSamples = unsafe extern "C" fn(texture: *const NVNtexture) -> i32;

/// `void nvnTextureGetSparseTileLayout(const NVNtexture* texture, NVNtextureSparseTileLayout* layout)`
pub type nvnTextureGetSparseTileLayout =
    unsafe extern "C" fn(texture: *const NVNtexture, layout: *mut NVNtextureSparseTileLayout);

/// `NVNstorageClass nvnTextureGetStorageClass(const NVNtexture* texture)`
pub type nvnTextureGetStorageClass = unsafe extern "C" fn(texture: *const NVNtexture) -> NVNstorageClass;

/// `int nvnTextureGetStorageSize(const NVNtexture* texture)`
pub type nvnTextureGetStorageSize = unsafe extern "C" fn(texture: *const NVNtexture) -> i32;

/// `ptrdiff_t nvnTextureGetStride(const NVNtexture* texture)`
pub type nvnTextureGetStride = unsafe extern "C" fn(texture: *const NVNtexture) -> isize;

/// `void nvnTextureGetSwizzle(const NVNtexture* texture, NVNtextureSwizzle* r, NVNtextureSwizzle* g, NVNtextureSwizzle* b, NVNtextureSwizzle* a)`
pub type nvnTextureGetSwizzle = unsafe extern "C" fn(
    texture: *const NVNtexture,
    r: *mut NVNtextureSwizzle,
    g: *mut NVNtextureSwizzle,
    b: *mut NVNtextureSwizzle,
    a: *mut NVNtextureSwizzle,
);

/// `NVNtextureTarget nvnTextureGetTarget(const NVNtexture* texture)`
pub type nvnTextureGetTarget = unsafe extern "C" fn(texture: *const NVNtexture) -> NVNtextureTarget;

/// `NVNtextureAddress nvnTextureGetTextureAddress(const NVNtexture* texture)`
pub type nvnTextureGetTextureAddress = unsafe extern "C" fn(texture: *const NVNtexture) -> NVNtextureAddress;

/// `ptrdiff_t nvnTextureGetViewOffset(const NVNtexture* texture, const NVNtextureView* view)`
pub type nvnTextureGetViewOffset =
    unsafe extern "C" fn(texture: *const NVNtexture, view: *const NVNtextureView) -> isize;

/// `int nvnTextureGetWidth(const NVNtexture* texture)`
pub type nvnTextureGetWidth = unsafe extern "C" fn(texture: *const NVNtexture) -> i32;

/// `size_t nvnTextureGetZCullStorageSize(const NVNtexture* texture)`
pub type nvnTextureGetZCullStorageSize = unsafe extern "C" fn(texture: *const NVNtexture) -> usize;

/// `NVNboolean nvnTextureInitialize(NVNtexture* texture, const NVNtextureBuilder* builder)`
pub type nvnTextureInitialize =
    unsafe extern "C" fn(texture: *mut NVNtexture, builder: *const NVNtextureBuilder) -> NVNboolean;

/// `void nvnTextureInvalidateTexels(const NVNtexture* texture, const NVNtextureView* view, const NVNcopyRegion* region)`
pub type nvnTextureInvalidateTexels =
    unsafe extern "C" fn(texture: *const NVNtexture, view: *const NVNtextureView, region: *const NVNcopyRegion);

/// `void nvnTexturePoolFinalize(NVNtexturePool* pool)`
pub type nvnTexturePoolFinalize = unsafe extern "C" fn(pool: *mut NVNtexturePool);

/// `ptrdiff_t nvnTexturePoolGetMemoryOffset(const NVNtexturePool* pool)`
pub type nvnTexturePoolGetMemoryOffset = unsafe extern "C" fn(pool: *const NVNtexturePool) -> isize;

/// `const NVNmemoryPool* nvnTexturePoolGetMemoryPool(const NVNtexturePool* pool)`
pub type nvnTexturePoolGetMemoryPool = unsafe extern "C" fn(pool: *const NVNtexturePool) -> *const NVNmemoryPool;

/// `int nvnTexturePoolGetSize(const NVNtexturePool* pool)`
pub type nvnTexturePoolGetSize = unsafe extern "C" fn(pool: *const NVNtexturePool) -> i32;

/// `NVNboolean nvnTexturePoolInitialize(NVNtexturePool* texturePool, const NVNmemoryPool* memoryPool, ptrdiff_t offset, int numDescriptors)`
pub type nvnTexturePoolInitialize = unsafe extern "C" fn(
    texture_pool: *mut NVNtexturePool,
    memory_pool: *const NVNmemoryPool,
    offset: isize,
    num_descriptors: i32,
) -> NVNboolean;

/// `void nvnTexturePoolRegisterImage(const NVNtexturePool* pool, int id, const NVNtexture* texture, const NVNtextureView* view)`
pub type nvnTexturePoolRegisterImage =
    unsafe extern "C" fn(pool: *const NVNtexturePool, id: i32, texture: *const NVNtexture, view: *const NVNtextureView);

/// `void nvnTexturePoolRegisterTexture(const NVNtexturePool* pool, int id, const NVNtexture* texture, const NVNtextureView* view)`
pub type nvnTexturePoolRegisterTexture =
    unsafe extern "C" fn(pool: *const NVNtexturePool, id: i32, texture: *const NVNtexture, view: *const NVNtextureView);

/// `void nvnTexturePoolSetDebugLabel(NVNtexturePool* pool, const char* label)`
pub type nvnTexturePoolSetDebugLabel = unsafe extern "C" fn(pool: *mut NVNtexturePool, label: *const core::ffi::c_char);

/// `void nvnTextureReadTexels(const NVNtexture* texture, const NVNtextureView* view, const NVNcopyRegion* region, void* dstData)`
pub type nvnTextureReadTexels = unsafe extern "C" fn(
    texture: *const NVNtexture,
    view: *const NVNtextureView,
    region: *const NVNcopyRegion,
    dst_data: *mut core::ffi::c_void,
);

/// `void nvnTextureReadTexelsStrided(const NVNtexture* texture, const NVNtextureView* view, const NVNcopyRegion* region, void* dstData, ptrdiff_t rowStride, ptrdiff_t imageStride)`
pub type nvnTextureReadTexelsStrided = unsafe extern "C" fn(
    texture: *const NVNtexture,
    view: *const NVNtextureView,
    region: *const NVNcopyRegion,
    dst_data: *mut core::ffi::c_void,
    row_stride: isize,
    image_stride: isize,
);

/// `void nvnTextureSetDebugLabel(NVNtexture* texture, const char* label)`
pub type nvnTextureSetDebugLabel = unsafe extern "C" fn(texture: *mut NVNtexture, label: *const core::ffi::c_char);

/// `NVNboolean nvnTextureViewCompare(const NVNtextureView* view1, const NVNtextureView* view2)`
pub type nvnTextureViewCompare =
    unsafe extern "C" fn(view1: *const NVNtextureView, view2: *const NVNtextureView) -> NVNboolean;

/// `NVNboolean nvnTextureViewGetDepthStencilMode(const NVNtextureView* view, NVNtextureDepthStencilMode* mode)`
pub type nvnTextureViewGetDepthStencilMode =
    unsafe extern "C" fn(view: *const NVNtextureView, mode: *mut NVNtextureDepthStencilMode) -> NVNboolean;

/// `NVNboolean nvnTextureViewGetFormat(const NVNtextureView* view, NVNformat* format)`
pub type nvnTextureViewGetFormat =
    unsafe extern "C" fn(view: *const NVNtextureView, format: *mut NVNformat) -> NVNboolean;

/// `NVNboolean nvnTextureViewGetLayers(const NVNtextureView* view, int* minLayer, int* numLayers)`
pub type nvnTextureViewGetLayers =
    unsafe extern "C" fn(view: *const NVNtextureView, min_layer: *mut i32, num_layers: *mut i32) -> NVNboolean;

/// `NVNboolean nvnTextureViewGetLevels(const NVNtextureView* view, int* baseLevel, int* numLevels)`
pub type nvnTextureViewGetLevels =
    unsafe extern "C" fn(view: *const NVNtextureView, base_level: *mut i32, num_levels: *mut i32) -> NVNboolean;

/// `NVNboolean nvnTextureViewGetSwizzle(const NVNtextureView* view, NVNtextureSwizzle* r, NVNtextureSwizzle* g, NVNtextureSwizzle* b, NVNtextureSwizzle* a)`
pub type nvnTextureViewGetSwizzle = unsafe extern "C" fn(
    view: *const NVNtextureView,
    r: *mut NVNtextureSwizzle,
    g: *mut NVNtextureSwizzle,
    b: *mut NVNtextureSwizzle,
    a: *mut NVNtextureSwizzle,
) -> NVNboolean;

/// `NVNboolean nvnTextureViewGetTarget(const NVNtextureView* view, NVNtextureTarget* target)`
pub type nvnTextureViewGetTarget =
    unsafe extern "C" fn(view: *const NVNtextureView, target: *mut NVNtextureTarget) -> NVNboolean;

/// `void nvnTextureViewSetDefaults(NVNtextureView* view)`
pub type nvnTextureViewSetDefaults = unsafe extern "C" fn(view: *mut NVNtextureView);

/// `void nvnTextureViewSetDepthStencilMode(NVNtextureView* view, NVNtextureDepthStencilMode mode)`
pub type nvnTextureViewSetDepthStencilMode =
    unsafe extern "C" fn(view: *mut NVNtextureView, mode: NVNtextureDepthStencilMode);

/// `void nvnTextureViewSetFormat(NVNtextureView* view, NVNformat format)`
pub type nvnTextureViewSetFormat = unsafe extern "C" fn(view: *mut NVNtextureView, format: NVNformat);

/// `void nvnTextureViewSetLayers(NVNtextureView* view, int minLayer, int numLayers)`
pub type nvnTextureViewSetLayers = unsafe extern "C" fn(view: *mut NVNtextureView, min_layer: i32, num_layers: i32);

/// `void nvnTextureViewSetLevels(NVNtextureView* view, int baseLevel, int numLevels)`
pub type nvnTextureViewSetLevels = unsafe extern "C" fn(view: *mut NVNtextureView, base_level: i32, num_levels: i32);

/// `void nvnTextureViewSetSwizzle(NVNtextureView* view, NVNtextureSwizzle r, NVNtextureSwizzle g, NVNtextureSwizzle b, NVNtextureSwizzle a)`
pub type nvnTextureViewSetSwizzle = unsafe extern "C" fn(
    view: *mut NVNtextureView,
    r: NVNtextureSwizzle,
    g: NVNtextureSwizzle,
    b: NVNtextureSwizzle,
    a: NVNtextureSwizzle,
);

/// `void nvnTextureViewSetTarget(NVNtextureView* view, NVNtextureTarget target)`
pub type nvnTextureViewSetTarget = unsafe extern "C" fn(view: *mut NVNtextureView, target: NVNtextureTarget);

/// `void nvnTextureWriteTexels(const NVNtexture* texture, const NVNtextureView* view, const NVNcopyRegion* region, const void* srcData)`
pub type nvnTextureWriteTexels = unsafe extern "C" fn(
    texture: *const NVNtexture,
    view: *const NVNtextureView,
    region: *const NVNcopyRegion,
    src_data: *const core::ffi::c_void,
);

/// `void nvnTextureWriteTexelsStrided(const NVNtexture* texture, const NVNtextureView* view, const NVNcopyRegion* region, const void* srcData, ptrdiff_t rowStride, ptrdiff_t imageStride)`
pub type nvnTextureWriteTexelsStrided = unsafe extern "C" fn(
    texture: *const NVNtexture,
    view: *const NVNtextureView,
    region: *const NVNcopyRegion,
    src_data: *const core::ffi::c_void,
    row_stride: isize,
    image_stride: isize,
);

/// `void nvnVertexAttribStateGetFormat(const NVNvertexAttribState* attrib, NVNformat* format, ptrdiff_t* relativeOffset)`
pub type nvnVertexAttribStateGetFormat =
    unsafe extern "C" fn(attrib: *const NVNvertexAttribState, format: *mut NVNformat, relative_offset: *mut isize);

/// `int nvnVertexAttribStateGetStreamIndex(const NVNvertexAttribState* attrib)`
pub type nvnVertexAttribStateGetStreamIndex = unsafe extern "C" fn(attrib: *const NVNvertexAttribState) -> i32;

/// `void nvnVertexAttribStateSetDefaults(NVNvertexAttribState* attrib)`
pub type nvnVertexAttribStateSetDefaults = unsafe extern "C" fn(attrib: *mut NVNvertexAttribState);

/// `void nvnVertexAttribStateSetFormat(NVNvertexAttribState* attrib, NVNformat format, ptrdiff_t relativeOffset)`
pub type nvnVertexAttribStateSetFormat =
    unsafe extern "C" fn(attrib: *mut NVNvertexAttribState, format: NVNformat, relative_offset: isize);

/// `void nvnVertexAttribStateSetStreamIndex(NVNvertexAttribState* attrib, int streamIndex)`
pub type nvnVertexAttribStateSetStreamIndex =
    unsafe extern "C" fn(attrib: *mut NVNvertexAttribState, stream_index: i32);

/// `int nvnVertexStreamStateGetDivisor(const NVNvertexStreamState* stream)`
pub type nvnVertexStreamStateGetDivisor = unsafe extern "C" fn(stream: *const NVNvertexStreamState) -> i32;

/// `ptrdiff_t nvnVertexStreamStateGetStride(const NVNvertexStreamState* stream)`
pub type nvnVertexStreamStateGetStride = unsafe extern "C" fn(stream: *const NVNvertexStreamState) -> isize;

/// `void nvnVertexStreamStateSetDefaults(NVNvertexStreamState* stream)`
pub type nvnVertexStreamStateSetDefaults = unsafe extern "C" fn(stream: *mut NVNvertexStreamState);

/// `void nvnVertexStreamStateSetDivisor(NVNvertexStreamState* stream, int divisor)`
pub type nvnVertexStreamStateSetDivisor = unsafe extern "C" fn(stream: *mut NVNvertexStreamState, divisor: i32);

/// `void nvnVertexStreamStateSetStride(NVNvertexStreamState* stream, ptrdiff_t stride)`
pub type nvnVertexStreamStateSetStride = unsafe extern "C" fn(stream: *mut NVNvertexStreamState, stride: isize);

/// `NVNwindowAcquireTextureResult nvnWindowAcquireTexture(NVNwindow* window, NVNsync* textureAvailableSync, int* textureIndex)`
pub type nvnWindowAcquireTexture = unsafe extern "C" fn(
    window: *mut NVNwindow,
    texture_available_sync: *mut NVNsync,
    texture_index: *mut i32,
) -> NVNwindowAcquireTextureResult;

/// `const NVNdevice* nvnWindowBuilderGetDevice(const NVNwindowBuilder* builder)`
pub type nvnWindowBuilderGetDevice = unsafe extern "C" fn(builder: *const NVNwindowBuilder) -> *const NVNdevice;

/// `NVNnativeWindow nvnWindowBuilderGetNativeWindow(const NVNwindowBuilder* builder)`
pub type nvnWindowBuilderGetNativeWindow = unsafe extern "C" fn(builder: *const NVNwindowBuilder) -> NVNnativeWindow;

/// `int nvnWindowBuilderGetNumTextures(const NVNwindowBuilder* builder)`
pub type nvnWindowBuilderGetNumTextures = unsafe extern "C" fn(builder: *const NVNwindowBuilder) -> i32;

/// `int nvnWindowBuilderGetPresentInterval(const NVNwindowBuilder* builder)`
pub type nvnWindowBuilderGetPresentInterval = unsafe extern "C" fn(builder: *const NVNwindowBuilder) -> i32;

/// `const NVNtexture* nvnWindowBuilderGetTexture(const NVNwindowBuilder* builder, int index)`
pub type nvnWindowBuilderGetTexture =
    unsafe extern "C" fn(builder: *const NVNwindowBuilder, index: i32) -> *const NVNtexture;

/// `void nvnWindowBuilderSetDefaults(NVNwindowBuilder* builder)`
pub type nvnWindowBuilderSetDefaults = unsafe extern "C" fn(builder: *mut NVNwindowBuilder);

/// `void nvnWindowBuilderSetDevice(NVNwindowBuilder* builder, NVNdevice* device)`
pub type nvnWindowBuilderSetDevice = unsafe extern "C" fn(builder: *mut NVNwindowBuilder, device: *mut NVNdevice);

/// `void nvnWindowBuilderSetNativeWindow(NVNwindowBuilder* builder, NVNnativeWindow nativeWindow)`
pub type nvnWindowBuilderSetNativeWindow =
    unsafe extern "C" fn(builder: *mut NVNwindowBuilder, native_window: NVNnativeWindow);

/// `void nvnWindowBuilderSetPresentInterval(NVNwindowBuilder* builder, int presentInterval)`
pub type nvnWindowBuilderSetPresentInterval =
    unsafe extern "C" fn(builder: *mut NVNwindowBuilder, present_interval: i32);

/// `void nvnWindowBuilderSetTextures(NVNwindowBuilder* builder, int numTextures, NVNtexture* const* textures)`
pub type nvnWindowBuilderSetTextures =
    unsafe extern "C" fn(builder: *mut NVNwindowBuilder, num_textures: i32, textures: *const *mut NVNtexture);

/// `void nvnWindowFinalize(NVNwindow* window)`
pub type nvnWindowFinalize = unsafe extern "C" fn(window: *mut NVNwindow);

/// `void nvnWindowGetCrop(const NVNwindow* window, NVNrectangle* rectangle)`
pub type nvnWindowGetCrop = unsafe extern "C" fn(window: *const NVNwindow, rectangle: *mut NVNrectangle);

/// `NVNnativeWindow nvnWindowGetNativeWindow(const NVNwindow* window)`
pub type nvnWindowGetNativeWindow = unsafe extern "C" fn(window: *const NVNwindow) -> NVNnativeWindow;

/// `int nvnWindowGetPresentInterval(const NVNwindow* window)`
pub type nvnWindowGetPresentInterval = unsafe extern "C" fn(window: *const NVNwindow) -> i32;

/// `NVNboolean nvnWindowInitialize(NVNwindow* window, const NVNwindowBuilder* builder)`
pub type nvnWindowInitialize =
    unsafe extern "C" fn(window: *mut NVNwindow, builder: *const NVNwindowBuilder) -> NVNboolean;

/// `void nvnWindowSetCrop(NVNwindow* window, int x, int y, int w, int h)`
pub type nvnWindowSetCrop = unsafe extern "C" fn(window: *mut NVNwindow, x: i32, y: i32, w: i32, h: i32);

/// `void nvnWindowSetDebugLabel(NVNwindow* window, const char* label)`
pub type nvnWindowSetDebugLabel = unsafe extern "C" fn(window: *mut NVNwindow, label: *const core::ffi::c_char);

/// `void nvnWindowSetPresentInterval(NVNwindow* window, int presentInterval)`
pub type nvnWindowSetPresentInterval = unsafe extern "C" fn(window: *mut NVNwindow, present_interval: i32);

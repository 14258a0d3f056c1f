//! What Vulkan image a texture gets, and which views of it: NVN's formats, targets, swizzles and views in
//! Vulkan's terms. Pure decisions; [`content`](super::content) makes the images.

use ash::vk;
use navin_abi::enums::{NVNtextureDepthStencilMode, NVNtextureSwizzle};
use navin_abi::fault;
use navin_abi::records::ViewDesc;
use navin_texture::format::Component;
use navin_texture::{Class, Format, FormatInfo, Target};
use navin_vulkan::{Context, Image, ImageDesc, ViewDesc as VkViewDesc, ViewKind};

use crate::host::textures::Texture;

/// A format as the device has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DeviceFormat {
    pub(crate) format: vk::Format,
    /// Where a view finds NVN's R, G, B and A.
    pub(crate) swizzle: [vk::ComponentSwizzle; 4],
    /// Whether texels have the guest's bytes, so that copies need no conversion.
    pub(crate) same_bytes: bool,
    /// Whether the guest's blocks are decoded to RGBA8 when the image is filled: ASTC on a device without it.
    pub(crate) decoded: bool,
}

const IDENTITY: [vk::ComponentSwizzle; 4] =
    [vk::ComponentSwizzle::R, vk::ComponentSwizzle::G, vk::ComponentSwizzle::B, vk::ComponentSwizzle::A];

/// The Vulkan format that images of an NVN format get on this device; `None` where it can have none.
pub(crate) fn device_format(context: &Context, info: &FormatInfo) -> Option<DeviceFormat> {
    let usable = |format: vk::Format| {
        let wanted = if info.class.has_depth() || info.class.has_stencil() {
            vk::FormatFeatureFlags2::DEPTH_STENCIL_ATTACHMENT
        } else {
            vk::FormatFeatureFlags2::SAMPLED_IMAGE
        };
        format != vk::Format::UNDEFINED && context.image_format_features(format).contains(wanted)
    };
    let own = vk::Format::from_raw(info.vk_format);
    if usable(own) {
        let mut swizzle = IDENTITY;
        if info.alpha_one() {
            swizzle[3] = vk::ComponentSwizzle::ONE;
        }
        let same_bytes = !(info.class.has_depth() && matches!(own, vk::Format::X8_D24_UNORM_PACK32))
            && info.class != Class::DepthStencil;
        return Some(DeviceFormat { format: own, swizzle, same_bytes, decoded: false });
    }
    let fallback = info.fallback()?;
    let format = vk::Format::from_raw(fallback.vk_format);
    if !usable(format) {
        return None;
    }
    let mut swizzle = fallback.swizzle.map(|component| match component {
        Component::R => vk::ComponentSwizzle::R,
        Component::G => vk::ComponentSwizzle::G,
        Component::B => vk::ComponentSwizzle::B,
        Component::A => vk::ComponentSwizzle::A,
    });
    if info.alpha_one() {
        swizzle[3] = vk::ComponentSwizzle::ONE;
    }
    Some(DeviceFormat { format, swizzle, same_bytes: fallback.same_bytes, decoded: info.is_astc() })
}

/// Whether the format holds depth or stencil.
pub(crate) fn is_depth(info: &FormatInfo) -> bool {
    info.class.has_depth() || info.class.has_stencil()
}

/// What the image of a texture is; `None` where the device cannot have it.
pub(crate) fn image_desc(context: &Context, texture: &Texture) -> Option<ImageDesc> {
    let info = texture.format;
    let device = device_format(context, info)?;
    let level = texture.layout.levels.first()?;
    let extent = vk::Extent3D { width: level.width, height: level.height, depth: level.depth };
    let features = context.image_format_features(device.format);
    let has = |feature| features.contains(feature);
    let mut usage = vk::ImageUsageFlags::empty();
    if has(vk::FormatFeatureFlags2::SAMPLED_IMAGE) {
        usage |= vk::ImageUsageFlags::SAMPLED;
    }
    if has(vk::FormatFeatureFlags2::COLOR_ATTACHMENT) {
        usage |= vk::ImageUsageFlags::COLOR_ATTACHMENT;
    }
    if has(vk::FormatFeatureFlags2::DEPTH_STENCIL_ATTACHMENT) {
        usage |= vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT;
    }
    // Every format that can be a storage image is one from the start, so that no image has to be made anew when
    // its descriptor turns up in an image slot (B432). The raw views of the shader interface need the integer
    // format of the texel size, which every Vulkan device can store to.
    let raw = vk::Format::from_raw(info.raw_vk_format());
    let color = !is_depth(info) && !info.is_compressed();
    if color && raw != vk::Format::UNDEFINED && texture.desc.samples <= 1 {
        usage |= vk::ImageUsageFlags::STORAGE;
    }
    let samples = match texture.desc.samples {
        0 | 1 => vk::SampleCountFlags::TYPE_1,
        2 => vk::SampleCountFlags::TYPE_2,
        4 => vk::SampleCountFlags::TYPE_4,
        _ => vk::SampleCountFlags::TYPE_8,
    };
    let samples = if texture.target.is_multisample() { samples } else { vk::SampleCountFlags::TYPE_1 };
    let kind = match texture.target {
        Target::D1 | Target::D1Array => vk::ImageType::TYPE_1D,
        Target::D3 => vk::ImageType::TYPE_3D,
        _ => vk::ImageType::TYPE_2D,
    };
    Some(ImageDesc {
        kind,
        format: device.format,
        extent,
        levels: texture.layout.levels.len() as u32,
        layers: texture.layers(),
        samples,
        usage,
        view_formats: Default::default(),
        mutable: color || device.decoded,
        cube: matches!(texture.target, Target::Cube | Target::CubeArray)
            || (kind == vk::ImageType::TYPE_2D
                && texture.layers() >= 6
                && extent.width == extent.height
                && samples == vk::SampleCountFlags::TYPE_1),
    })
}

/// The part of a texture that an `NVNtextureView` selects, cut to what the texture has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Selection {
    pub(crate) target: Target,
    pub(crate) format: &'static FormatInfo,
    pub(crate) base_level: u32,
    pub(crate) levels: u32,
    pub(crate) base_layer: u32,
    pub(crate) layers: u32,
    pub(crate) swizzle: [NVNtextureSwizzle; 4],
    pub(crate) depth_stencil_mode: NVNtextureDepthStencilMode,
}

/// Resolves a view against its texture.
pub(crate) fn select(texture: &Texture, view: &ViewDesc) -> Selection {
    let all_levels = texture.layout.levels.len() as u32;
    let all_layers = texture.layers();
    let (base_level, levels) = view.levels().unwrap_or((0, all_levels));
    let base_level = base_level.min(all_levels - 1);
    let levels = levels.clamp(1, all_levels - base_level);
    let (base_layer, layers) = view.layers().unwrap_or((0, all_layers));
    // A 3D texture's layers are its slices, which only a render target selects.
    let (base_layer, layers) = if texture.target == Target::D3 {
        let slices = texture.layout.levels[base_level as usize].slices;
        let base = base_layer.min(slices - 1);
        (base, if view.layers().is_some() { layers.clamp(1, slices - base) } else { slices })
    } else {
        let base = base_layer.min(all_layers - 1);
        (base, layers.clamp(1, all_layers - base))
    };
    let format = view.format().and_then(|format| Format::from_nvn(format.raw())).unwrap_or(texture.format);
    let format = if format.bytes_per_block == texture.format.bytes_per_block {
        format
    } else {
        fault!(
            key = texture.serial,
            "",
            "view of format {} of a texture of format {}, whose texels differ in size; the texture's is taken",
            format.name,
            texture.format.name
        );
        texture.format
    };
    Selection {
        target: view.target().and_then(|target| Target::from_nvn(target.raw())).unwrap_or(texture.target),
        format,
        base_level,
        levels,
        base_layer,
        layers,
        swizzle: view.swizzle().unwrap_or(texture.desc.swizzle),
        depth_stencil_mode: view.depth_stencil_mode().unwrap_or(texture.desc.depth_stencil_mode),
    }
}

/// `NVNtextureSwizzle` on top of what the format itself needs.
fn compose(guest: [NVNtextureSwizzle; 4], format: [vk::ComponentSwizzle; 4]) -> [vk::ComponentSwizzle; 4] {
    guest.map(|source| match source {
        NVNtextureSwizzle::ONE => vk::ComponentSwizzle::ONE,
        NVNtextureSwizzle::R => format[0],
        NVNtextureSwizzle::G => format[1],
        NVNtextureSwizzle::B => format[2],
        NVNtextureSwizzle::A => format[3],
        _ => vk::ComponentSwizzle::ZERO,
    })
}

/// The aspect that shaders read.
fn sampled_aspect(image: &Image, mode: NVNtextureDepthStencilMode) -> vk::ImageAspectFlags {
    let aspects = image.aspects();
    if aspects.contains(vk::ImageAspectFlags::COLOR) {
        vk::ImageAspectFlags::COLOR
    } else if mode == NVNtextureDepthStencilMode::STENCIL && aspects.contains(vk::ImageAspectFlags::STENCIL) {
        vk::ImageAspectFlags::STENCIL
    } else if aspects.contains(vk::ImageAspectFlags::DEPTH) {
        vk::ImageAspectFlags::DEPTH
    } else {
        vk::ImageAspectFlags::STENCIL
    }
}

/// View kinds under which shaders can reach a selection: its own first, then those that the same layers allow.
pub(crate) fn kinds(image: &Image, selection: &Selection) -> Vec<(ViewKind, vk::ImageViewType)> {
    use vk::ImageViewType as T;
    let cube_capable = image.desc().cube && image.desc().kind == vk::ImageType::TYPE_2D;
    let mut kinds = match (image.desc().kind, selection.target) {
        (vk::ImageType::TYPE_1D, _) => vec![(ViewKind::D1, T::TYPE_1D), (ViewKind::D1Array, T::TYPE_1D_ARRAY)],
        (vk::ImageType::TYPE_3D, _) => vec![(ViewKind::D3, T::TYPE_3D)],
        _ if image.desc().samples != vk::SampleCountFlags::TYPE_1 => {
            vec![(ViewKind::D2Ms, T::TYPE_2D), (ViewKind::D2MsArray, T::TYPE_2D_ARRAY)]
        }
        _ => vec![(ViewKind::D2, T::TYPE_2D), (ViewKind::D2Array, T::TYPE_2D_ARRAY)],
    };
    if cube_capable && selection.layers >= 6 {
        kinds.push((ViewKind::Cube, T::CUBE));
        kinds.push((ViewKind::CubeArray, T::CUBE_ARRAY));
    }
    kinds
}

fn layers_of(kind: vk::ImageViewType, layers: u32) -> u32 {
    use vk::ImageViewType as T;
    match kind {
        T::TYPE_1D | T::TYPE_2D | T::TYPE_3D => 1,
        T::CUBE => 6,
        T::CUBE_ARRAY => layers / 6 * 6,
        _ => layers,
    }
}

/// The view through which shaders sample a selection as `kind`.
pub(crate) fn sampled_view(
    context: &Context,
    image: &Image,
    selection: &Selection,
    kind: vk::ImageViewType,
) -> Option<VkViewDesc> {
    let (format, swizzle) = if is_depth(selection.format) {
        // Depth images keep their own format; NVN reads depth in every component but alpha, as a shadow
        // comparison gives.
        (image.desc().format, IDENTITY)
    } else {
        let device = device_format(context, selection.format)?;
        (device.format, device.swizzle)
    };
    Some(VkViewDesc {
        kind,
        format,
        aspects: sampled_aspect(image, selection.depth_stencil_mode),
        base_level: selection.base_level,
        levels: selection.levels,
        base_layer: if kind == vk::ImageViewType::TYPE_3D { 0 } else { selection.base_layer },
        layers: layers_of(kind, selection.layers),
        swizzle: compose(selection.swizzle, swizzle),
        usage: vk::ImageUsageFlags::SAMPLED,
    })
}

/// The view through which shaders load and store a selection as `kind`: typed, or raw in the unsigned format of
/// the texel size.
pub(crate) fn storage_view(
    context: &Context,
    image: &Image,
    selection: &Selection,
    kind: vk::ImageViewType,
    raw: bool,
) -> Option<VkViewDesc> {
    if !image.desc().usage.contains(vk::ImageUsageFlags::STORAGE) {
        return None;
    }
    let format = if raw {
        vk::Format::from_raw(selection.format.raw_vk_format())
    } else {
        device_format(context, selection.format)?.format
    };
    if !context.image_format_features(format).contains(vk::FormatFeatureFlags2::STORAGE_IMAGE) {
        return None;
    }
    Some(VkViewDesc {
        kind,
        format,
        aspects: vk::ImageAspectFlags::COLOR,
        base_level: selection.base_level,
        levels: 1,
        base_layer: if kind == vk::ImageViewType::TYPE_3D { 0 } else { selection.base_layer },
        layers: layers_of(kind, selection.layers),
        swizzle: IDENTITY,
        usage: vk::ImageUsageFlags::STORAGE,
    })
}

/// The view that a selection is as a render target: one level, its layers.
pub(crate) fn attachment_view(context: &Context, image: &Image, selection: &Selection) -> Option<VkViewDesc> {
    let depth = is_depth(selection.format);
    let format = if depth { image.desc().format } else { device_format(context, selection.format)?.format };
    let usage =
        if depth { vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT } else { vk::ImageUsageFlags::COLOR_ATTACHMENT };
    if !image.desc().usage.contains(usage) {
        return None;
    }
    let array = selection.layers > 1;
    let kind = match (image.desc().kind, array) {
        (vk::ImageType::TYPE_1D, false) => vk::ImageViewType::TYPE_1D,
        (vk::ImageType::TYPE_1D, true) => vk::ImageViewType::TYPE_1D_ARRAY,
        (_, false) => vk::ImageViewType::TYPE_2D,
        (_, true) => vk::ImageViewType::TYPE_2D_ARRAY,
    };
    Some(VkViewDesc {
        kind,
        format,
        aspects: image.aspects(),
        base_level: selection.base_level,
        levels: 1,
        base_layer: selection.base_layer,
        layers: selection.layers,
        swizzle: IDENTITY,
        usage,
    })
}

/// The size of a selection's first level in texels.
pub(crate) fn extent(image: &Image, selection: &Selection) -> vk::Extent3D {
    image.level_extent(selection.base_level)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swizzles_compose_over_the_formats_own() {
        use NVNtextureSwizzle as N;
        use vk::ComponentSwizzle as S;
        assert_eq!(compose([N::R, N::G, N::B, N::A], [S::B, S::G, S::R, S::ONE]), [S::B, S::G, S::R, S::ONE]);
        assert_eq!(compose([N::A, N::ZERO, N::ONE, N::R], IDENTITY), [S::A, S::ZERO, S::ONE, S::R]);
    }
}

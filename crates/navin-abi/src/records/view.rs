//! `NVNtextureView`: what of a texture a binding looks at.

use crate::enums::{NVNformat, NVNtextureDepthStencilMode, NVNtextureSwizzle, NVNtextureTarget};

/// `NVNtextureView`, the 16 bytes that SDK 16 gives it (B101); the same bytes go into command records.
///
/// A field that the guest never set is zero here and reads as `None`: the texture's own value holds. The default
/// value ([`ViewDesc::NONE`]) sets nothing.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, bytemuck::Pod, bytemuck::Zeroable)]
pub struct ViewDesc {
    set: u8,
    target: u8,
    base_level: u8,
    level_count: u8,
    base_layer: u16,
    layer_count: u16,
    format: u8,
    depth_stencil_mode: u8,
    swizzle: [u8; 4],
    magic: u16,
}

super::fits!(ViewDesc in MIN_NVNTEXTUREVIEW);
const _: () = assert!(size_of::<ViewDesc>() == 16, "command records hold exactly 16 bytes");

const LEVELS: u8 = 1;
const LAYERS: u8 = 2;
const FORMAT: u8 = 4;
const SWIZZLE: u8 = 8;
const TARGET: u8 = 16;
const DEPTH_STENCIL_MODE: u8 = 32;
const ALL: u8 = 63;
const MAGIC: u16 = u16::from_le_bytes(*b"vi");

impl ViewDesc {
    /// A view that sets nothing: the whole texture as it is.
    pub const NONE: Self = Self {
        set: 0,
        target: 0,
        base_level: 0,
        level_count: 0,
        base_layer: 0,
        layer_count: 0,
        format: 0,
        depth_stencil_mode: 0,
        swizzle: [0; 4],
        magic: MAGIC,
    };

    /// Whether the bytes are a view that SetDefaults made; other bytes are to be taken for [`NONE`](Self::NONE).
    pub const fn is_view(&self) -> bool {
        self.magic == MAGIC && self.set & !ALL == 0
    }

    /// Whether no field is set.
    pub const fn is_none(&self) -> bool {
        self.set == 0
    }

    const fn when<T: Copy>(&self, field: u8, value: T) -> Option<T> {
        if self.set & field != 0 { Some(value) } else { None }
    }

    /// First level and number of levels.
    pub const fn levels(&self) -> Option<(u32, u32)> {
        self.when(LEVELS, (self.base_level as u32, self.level_count as u32))
    }

    /// First layer and number of layers.
    pub const fn layers(&self) -> Option<(u32, u32)> {
        self.when(LAYERS, (self.base_layer as u32, self.layer_count as u32))
    }

    /// `NVNformat`.
    pub const fn format(&self) -> Option<NVNformat> {
        self.when(FORMAT, NVNformat(self.format as i32))
    }

    /// `NVNtextureSwizzle` of red, green, blue and alpha.
    pub fn swizzle(&self) -> Option<[NVNtextureSwizzle; 4]> {
        self.when(SWIZZLE, self.swizzle.map(|s| NVNtextureSwizzle(s.into())))
    }

    /// `NVNtextureTarget`.
    pub const fn target(&self) -> Option<NVNtextureTarget> {
        self.when(TARGET, NVNtextureTarget(self.target as i32))
    }

    /// `NVNtextureDepthStencilMode`.
    pub const fn depth_stencil_mode(&self) -> Option<NVNtextureDepthStencilMode> {
        self.when(DEPTH_STENCIL_MODE, NVNtextureDepthStencilMode(self.depth_stencil_mode as i32))
    }

    /// Sets the levels; false, with nothing changed, when a number does not fit (as of the other setters).
    #[must_use]
    pub fn set_levels(&mut self, base: i32, count: i32) -> bool {
        let (Ok(base), Ok(count)) = (u8::try_from(base), u8::try_from(count)) else { return false };
        (self.base_level, self.level_count, self.set) = (base, count, self.set | LEVELS);
        true
    }

    /// Sets the layers.
    #[must_use]
    pub fn set_layers(&mut self, base: i32, count: i32) -> bool {
        let (Ok(base), Ok(count)) = (u16::try_from(base), u16::try_from(count)) else { return false };
        (self.base_layer, self.layer_count, self.set) = (base, count, self.set | LAYERS);
        true
    }

    /// Sets the format.
    #[must_use]
    pub fn set_format(&mut self, format: NVNformat) -> bool {
        let Ok(format) = u8::try_from(format.raw()) else { return false };
        (self.format, self.set) = (format, self.set | FORMAT);
        true
    }

    /// Sets the swizzle.
    #[must_use]
    pub fn set_swizzle(&mut self, swizzle: [NVNtextureSwizzle; 4]) -> bool {
        let Some(swizzle) = super::texture::pack_swizzle(swizzle) else { return false };
        (self.swizzle, self.set) = (swizzle, self.set | SWIZZLE);
        true
    }

    /// Sets the target.
    #[must_use]
    pub fn set_target(&mut self, target: NVNtextureTarget) -> bool {
        let Ok(target) = u8::try_from(target.raw()) else { return false };
        (self.target, self.set) = (target, self.set | TARGET);
        true
    }

    /// Sets whether depth or stencil is read.
    #[must_use]
    pub fn set_depth_stencil_mode(&mut self, mode: NVNtextureDepthStencilMode) -> bool {
        let Ok(mode) = u8::try_from(mode.raw()) else { return false };
        (self.depth_stencil_mode, self.set) = (mode, self.set | DEPTH_STENCIL_MODE);
        true
    }
}

impl Default for ViewDesc {
    fn default() -> Self {
        Self::NONE
    }
}

impl std::fmt::Debug for ViewDesc {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut s = f.debug_struct("ViewDesc");
        if let Some(v) = self.target() {
            s.field("target", &v);
        }
        if let Some(v) = self.format() {
            s.field("format", &v);
        }
        if let Some(v) = self.levels() {
            s.field("levels", &v);
        }
        if let Some(v) = self.layers() {
            s.field("layers", &v);
        }
        if let Some(v) = self.swizzle() {
            s.field("swizzle", &v);
        }
        if let Some(v) = self.depth_stencil_mode() {
            s.field("depth_stencil_mode", &v);
        }
        s.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_set_is_there() {
        let mut view = ViewDesc::NONE;
        assert!(view.is_view() && view.is_none());
        assert!(view.set_levels(2, 3) && view.set_layers(2047, 1));
        assert!(view.set_target(NVNtextureTarget::CUBEMAP_ARRAY));
        assert_eq!((view.levels(), view.layers()), (Some((2, 3)), Some((2047, 1))));
        assert_eq!(view.target(), Some(NVNtextureTarget::CUBEMAP_ARRAY));
        assert_eq!((view.format(), view.swizzle(), view.depth_stencil_mode()), (None, None, None));
        let swizzle = [5, 4, 3, 2].map(NVNtextureSwizzle);
        assert!(view.set_format(NVNformat(156)) && view.set_swizzle(swizzle));
        assert!(view.set_depth_stencil_mode(NVNtextureDepthStencilMode::STENCIL));
        assert_eq!((view.format(), view.swizzle()), (Some(NVNformat(156)), Some(swizzle)));
        assert_eq!(view.depth_stencil_mode(), Some(NVNtextureDepthStencilMode::STENCIL));
        assert!(!view.is_none());
    }

    #[test]
    fn numbers_that_do_not_fit_are_refused() {
        let mut view = ViewDesc::NONE;
        assert!(!view.set_levels(-1, 1) && !view.set_layers(0, 70_000) && !view.set_format(NVNformat(0x7fff_ffff)));
        assert!(!view.set_swizzle([2, 3, 4, 6].map(NVNtextureSwizzle)) && !view.set_target(NVNtextureTarget(-1)));
        assert!(!view.set_depth_stencil_mode(NVNtextureDepthStencilMode(256)));
        assert_eq!(view, ViewDesc::NONE);
    }

    #[test]
    fn garbage_is_no_view() {
        let garbage: ViewDesc = bytemuck::cast([0xccu8; 16]);
        assert!(!garbage.is_view());
    }
}

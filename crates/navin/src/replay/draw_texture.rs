//! `nvnCommandBufferDrawTexture`: a rectangle of a texture onto one of the target, past the bound programs, through
//! the blending, depth and stencil state that is bound.

use navin_abi::fault;
use navin_command::record::payload::DrawTexture;
use navin_texture::Target as TextureTarget;

use super::content::{self, Use};
use super::state::Dirty;
use super::{Engine, Piece};

impl Piece<'_> {
    pub(crate) fn draw_texture(&mut self, draw: &DrawTexture) {
        if !self.state.render_enable {
            return;
        }
        self.enter(Engine::Graphics);
        let now = self.driver.descriptors.generation();
        let (texture_base, sampler_base) = self.bases(now);
        let id = texture_base.saturating_add(draw.handle & 0xF_FFFF);
        let sampler = sampler_base.saturating_add(draw.handle >> 20);
        let Some(texture) = self.residency.texture(self.driver, &mut self.encoder, id, false, now) else {
            fault!(key = id, "B116", "nvnCommandBufferDrawTexture of texture id {id}, which is empty: not drawn");
            return;
        };
        if texture.target != TextureTarget::D2 {
            fault!(key = id, "", "nvnCommandBufferDrawTexture of texture id {id}, which is not 2D: not drawn");
            return;
        }
        let (width, height) = (texture.desc.width.max(1) as f32, texture.desc.height.max(1) as f32);
        content::image_for(self.driver, &mut self.encoder, texture, Use::Read);
        self.residency.sampler(self.driver, sampler, now);
        let handle = super::draw::moved(draw.handle, texture_base, self.residency.sampler_bits(sampler));
        let dirty = self.state.dirty & Dirty::FIXED;
        self.state.dirty -= Dirty::FIXED;
        if dirty.contains(Dirty::TARGETS) {
            // Types of colour outputs follow the targets.
            self.state.dirty |= Dirty::PROGRAMS;
        }
        self.set_fixed(dirty);
        let corners = |[x, y, w, h]: [f32; 4]| [x, y, x + w, y + h];
        let from = corners(draw.source);
        let from = [from[0] / width, from[1] / height, from[2] / width, from[3] / height];
        let to = corners(draw.destination);
        if !from.iter().chain(&to).all(|number| number.is_finite()) {
            fault!("", "nvnCommandBufferDrawTexture with rectangles that are no numbers: not drawn");
            return;
        }
        let result = self.encoder.draw_texture(handle, to, from);
        self.drawn(result);
    }
}

//! Entry points of the state objects: setters pack, getters decode (B423). Nothing here knows the host.

pub(crate) mod blend;
pub(crate) mod color;
pub(crate) mod depth_stencil;
pub(crate) mod multisample;
pub(crate) mod polygon;
pub(crate) mod vertex;

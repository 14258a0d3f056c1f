//! Features.
/// Optional device features, as found and enabled.
#[derive(Clone, Copy, Debug, Default, serde::Serialize)]
#[non_exhaustive]
pub struct Features {
    /// VK_EXT_external_memory_host.
    pub host_import: bool,
}

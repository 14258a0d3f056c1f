//! Report.
/// What was found.
#[derive(Clone, Debug, serde::Serialize)]
#[non_exhaustive]
pub struct Report {
    /// Name.
    pub device: String,
}

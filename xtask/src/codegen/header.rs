//! Writes `nvn.h`.
use super::facts::Facts;
pub fn nvn_h(_facts: &Facts) -> String {
    String::new()
}

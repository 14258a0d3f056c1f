//! Debug labels: what a guest calls its objects, for whoever reads the log.

use std::ffi::c_char;

use navin_abi::GuestPtr;

use super::object::address;

/// Longest label read; a longer one is cut.
const LONGEST: usize = 256;

/// The guest's string, cut at [`LONGEST`] bytes; `None` for null.
pub(crate) fn text(string: *const c_char) -> Option<String> {
    let start = GuestPtr::<u8>::new(address(string));
    if start.is_null() {
        return None;
    }
    let bytes: Vec<u8> = (0..LONGEST)
        // SAFETY: a C string, as the guest's call promises; nothing behind its terminating zero is read.
        .map_while(|i| unsafe { start.add(i).read() }.filter(|byte| *byte != 0))
        .collect();
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Notes that the guest calls the object (by serial or address) so.
pub(crate) fn note(object: &'static str, id: u64, label: *const c_char) {
    if let Some(label) = text(label) {
        tracing::debug!(object, id, label, "debug label");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_end_at_their_zero_or_their_limit() {
        assert_eq!(text(c"shadow map".as_ptr()).as_deref(), Some("shadow map"));
        assert_eq!(text(std::ptr::null()), None);
        let long = [b'x'; 300];
        assert_eq!(text(long.as_ptr().cast()).map(|t| t.len()), Some(LONGEST));
    }
}

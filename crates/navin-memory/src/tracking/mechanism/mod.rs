//! What makes writes noticeable: the trait, its two implementations, and the choice between them.
//!
//! [`Userfaultfd`] needs nothing at the time of a write but the kernel's own work; writes are found later, by
//! a fetch. [`Mprotect`] learns of a write as it happens, in a signal handler. The tracker (`super::tracker`) keeps the
//! words and decides when to protect; a mechanism only changes protection.

use std::io;
use std::ops::Range;

use super::types::{Mechanism, MechanismChoice, Selection, TrackingError};

#[cfg(target_os = "linux")]
mod fault;
#[cfg(target_os = "linux")]
mod mprotect;
#[cfg(target_os = "linux")]
mod userfaultfd;

#[cfg(target_os = "linux")]
pub use self::{
    fault::{Answer, FaultTarget, Registration, SignalGuard, is_installed, is_writable},
    mprotect::Mprotect,
    userfaultfd::Userfaultfd,
};

/// A way to notice writes to host memory. Byte ranges are whole host pages.
pub trait Protection: Send + Sync {
    /// Prepares memory that may not have been watched before. It stays as it is.
    fn attach(&self, bytes: Range<usize>) -> io::Result<()>;
    /// From now on a write is noticed.
    fn protect(&self, bytes: Range<usize>) -> io::Result<()>;
    /// Writes need not be noticed, and cost nothing extra. Async-signal-safe.
    fn unprotect(&self, bytes: Range<usize>) -> io::Result<()>;
    /// Finds the pages written since they were protected (those never protected among them) and protects them again,
    /// in one step for each page. Appends to `found`, in address order; on an error everything counts as written.
    fn fetch(&self, bytes: Range<usize>, found: &mut Vec<Range<usize>>) -> io::Result<()>;
}

/// The mechanisms of a tracker.
pub struct Chosen {
    /// What it is, and why.
    pub selection: Selection,
    /// The fetching one, where it was chosen.
    #[cfg(target_os = "linux")]
    pub fetching: Option<Userfaultfd>,
}

/// Chooses, and asks the system.
#[cfg(target_os = "linux")]
pub fn choose(choice: MechanismChoice) -> Result<Chosen, TrackingError> {
    let selected =
        |mechanism, reason: String, fetching| Chosen { selection: Selection { mechanism, reason }, fetching };
    let unavailable = |mechanism, reason| TrackingError::Unavailable { mechanism, reason };
    match choice {
        MechanismChoice::Off => Ok(selected(Mechanism::Off, "switched off".into(), None)),
        MechanismChoice::Userfaultfd => Userfaultfd::new()
            .map(|fetching| selected(Mechanism::Userfaultfd, "asked for".into(), Some(fetching)))
            .map_err(|reason| unavailable(Mechanism::Userfaultfd, reason)),
        MechanismChoice::Mprotect => Mprotect::probe()
            .map(|()| selected(Mechanism::Mprotect, "asked for".into(), None))
            .map_err(|reason| unavailable(Mechanism::Mprotect, reason)),
        MechanismChoice::Auto => Ok(match (Userfaultfd::new(), Mprotect::probe()) {
            (Ok(fetching), _) => {
                selected(Mechanism::Userfaultfd, "the kernel has asynchronous write protection".into(), Some(fetching))
            }
            (Err(why), Ok(())) => selected(Mechanism::Mprotect, format!("no userfaultfd: {why}"), None),
            (Err(why), Err(neither)) => {
                selected(Mechanism::Off, format!("no userfaultfd: {why}; no mprotect: {neither}"), None)
            }
        }),
    }
}

/// Chooses: not ported, so nothing is tracked.
#[cfg(not(target_os = "linux"))]
pub fn choose(choice: MechanismChoice) -> Result<Chosen, TrackingError> {
    let reason = format!("write tracking is not ported to {}", std::env::consts::OS);
    let mechanism = match choice {
        MechanismChoice::Auto => {
            navin_abi::fault!(
                "",
                "{reason}: everything that the GPU reads counts as written, and is uploaded each time"
            );
            return Ok(Chosen { selection: Selection { mechanism: Mechanism::Off, reason } });
        }
        MechanismChoice::Off => {
            return Ok(Chosen { selection: Selection { mechanism: Mechanism::Off, reason: "switched off".into() } });
        }
        MechanismChoice::Userfaultfd => Mechanism::Userfaultfd,
        MechanismChoice::Mprotect => Mechanism::Mprotect,
    };
    Err(TrackingError::Unavailable { mechanism, reason })
}

//! Recorded commands: records, command and control memory, the flattened stream.
//!
//! A guest thread records through a [`CommandBuffer`] into the guest's command memory ([`record`] says what) and
//! strings the pieces together in control memory (`control`). Where memory runs out, the guest's callback is
//! asked, then the host lends (`lender`). A submit [`flatten`]s handles into a [`Stream`], which owns its bytes
//! and is all that replay sees. What lasts longer than a call and is not in guest memory is in the [`Host`].

mod control;
mod cursor;
mod flatten;
mod host;
mod lender;
pub mod record;
mod stream;

pub use cursor::CommandBuffer;
pub use flatten::{PieceMemory, flatten, flatten_parts};
pub use host::{CallbackRunner, Host, Limits, run_native};
pub use lender::{SEGMENT as LENT_SEGMENT, SMALL_SEGMENT as LENT_SMALL_SEGMENT};
pub use stream::{Boundary, Section, Stream};

//! Names of queues and syncs: numbers that are never used twice, so that an object made in the storage of a
//! finalized one inherits nothing from it (B230, B236).

use std::num::NonZeroU64;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(NonZeroU64);

        impl $name {
            /// The id that a record in guest memory holds as a number; `None` for 0. Whether such an object
            /// exists is for the scheduler to say.
            pub fn from_raw(raw: u64) -> Option<Self> {
                NonZeroU64::new(raw).map(Self)
            }

            /// The number, never 0.
            pub fn raw(self) -> u64 {
                self.0.get()
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.raw())
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{}", self.raw())
            }
        }
    };
}

id! {
    /// The serial of one initialization of an NVN queue.
    QueueId
}
id! {
    /// The serial of one initialization of an NVN sync.
    SyncId
}

/// Gives out the numbers of both kinds, from 1 on.
#[derive(Default)]
pub(crate) struct Ids {
    last: u64,
}

impl Ids {
    fn next(&mut self) -> NonZeroU64 {
        // 2^64 objects are never made: at one a nanosecond that takes 500 years.
        self.last = self.last.saturating_add(1);
        NonZeroU64::new(self.last).unwrap_or(NonZeroU64::MAX)
    }

    pub(crate) fn queue(&mut self) -> QueueId {
        QueueId(self.next())
    }

    pub(crate) fn sync(&mut self) -> SyncId {
        SyncId(self.next())
    }
}

//! The queue scheduler: streams, syncs, events and receipts as a state machine.

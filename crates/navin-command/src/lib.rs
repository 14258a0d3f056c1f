//! Recorded commands: records, command and control memory, the flattened stream.

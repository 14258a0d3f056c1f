//! Little-endian fields of a file at given offsets, each read checked, and a buffer that is written with places to
//! fill in later.

use super::FileError;

/// A file's bytes.
#[derive(Clone, Copy)]
pub(super) struct File<'a>(pub &'a [u8]);

impl<'a> File<'a> {
    /// Bytes of the file.
    pub fn len(&self) -> u64 {
        self.0.len() as u64
    }

    /// `size` bytes at `offset`, which are `what`.
    pub fn slice(&self, offset: u64, size: u64, what: &str) -> Result<&'a [u8], FileError> {
        let found = usize::try_from(offset)
            .ok()
            .zip(usize::try_from(size).ok())
            .and_then(|(from, size)| self.0.get(from..from.checked_add(size)?));
        found.ok_or_else(|| {
            FileError::at(offset, format!("expected {size} bytes of {what}, the file has {} bytes", self.0.len()))
        })
    }

    /// The array of `N` bytes at `offset`.
    pub fn array<const N: usize>(&self, offset: u64, what: &str) -> Result<[u8; N], FileError> {
        let mut out = [0; N];
        out.copy_from_slice(self.slice(offset, N as u64, what)?);
        Ok(out)
    }

    /// A byte.
    pub fn u8(&self, offset: u64, what: &str) -> Result<u8, FileError> {
        Ok(self.array::<1>(offset, what)?[0])
    }

    /// A 16-bit field.
    pub fn u16(&self, offset: u64, what: &str) -> Result<u16, FileError> {
        self.array(offset, what).map(u16::from_le_bytes)
    }

    /// A 32-bit field.
    pub fn u32(&self, offset: u64, what: &str) -> Result<u32, FileError> {
        self.array(offset, what).map(u32::from_le_bytes)
    }

    /// A 64-bit field.
    pub fn u64(&self, offset: u64, what: &str) -> Result<u64, FileError> {
        self.array(offset, what).map(u64::from_le_bytes)
    }

    /// Checks a magic number.
    pub fn magic(&self, offset: u64, magic: &[u8]) -> Result<(), FileError> {
        let name = String::from_utf8_lossy(magic).into_owned();
        let found = self.slice(offset, magic.len() as u64, &name)?;
        if found == magic {
            Ok(())
        } else {
            Err(FileError::at(offset, format!("expected {name:?}, found {found:02x?}")))
        }
    }
}

/// A file being written.
#[derive(Default)]
pub(super) struct Out(pub Vec<u8>);

impl Out {
    /// Where the next byte goes.
    pub fn at(&self) -> usize {
        self.0.len()
    }

    /// Appends bytes.
    pub fn put(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.extend_from_slice(bytes);
        self
    }

    /// Appends a byte.
    pub fn u8(&mut self, value: u8) -> &mut Self {
        self.put(&[value])
    }

    /// Appends a 16-bit field.
    pub fn u16(&mut self, value: u16) -> &mut Self {
        self.put(&value.to_le_bytes())
    }

    /// Appends a 32-bit field.
    pub fn u32(&mut self, value: u32) -> &mut Self {
        self.put(&value.to_le_bytes())
    }

    /// Appends a 64-bit field.
    pub fn u64(&mut self, value: u64) -> &mut Self {
        self.put(&value.to_le_bytes())
    }

    /// Appends zeros.
    pub fn zeros(&mut self, n: usize) -> &mut Self {
        self.0.resize(self.0.len() + n, 0);
        self
    }

    /// Appends zeros up to a multiple of `n`.
    pub fn align(&mut self, n: usize) -> &mut Self {
        self.0.resize(self.0.len().next_multiple_of(n), 0);
        self
    }

    /// Writes a 32-bit field over an earlier place.
    pub fn set_u32(&mut self, at: usize, value: u32) {
        self.0[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }

    /// Writes a 64-bit field over an earlier place.
    pub fn set_u64(&mut self, at: usize, value: u64) {
        self.0[at..at + 8].copy_from_slice(&value.to_le_bytes());
    }
}

//! Guest memory: the 40-bit GPU address space, pools and their storage.

//! libnvn: NVN's C functions by name, and the embedder's C API.

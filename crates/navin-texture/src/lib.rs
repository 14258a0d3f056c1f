//! NVN texture formats and layouts: block-linear addressing, swizzle on the CPU, image files.

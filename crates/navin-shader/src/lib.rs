//! NVN GPU programs: Maxwell machine code decoded, structured and written as SPIR-V.

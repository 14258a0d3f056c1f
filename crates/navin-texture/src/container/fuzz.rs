//! What must hold for any bytes; the body of the fuzz targets and of the tests that stand in for them.

use super::{Kind, read, write};
use crate::swizzle::GobOrder;

/// Whatever is read holds together, is no more than the file can hold, and what is written of it is read again.
///
/// # Panics
/// If that does not hold.
pub fn file(bytes: &[u8]) {
    for order in [GobOrder::TegraX1, GobOrder::Successor] {
        let (Ok(textures), Some(kind)) = (read(bytes, order), Kind::detect(bytes)) else { continue };
        let total: usize = textures.iter().map(|t| t.data.len()).sum();
        let inflates = matches!(kind, Kind::Png | Kind::Exr | Kind::Ktx2);
        assert!(inflates || total <= bytes.len(), "{total} bytes out of {}", bytes.len());
        for texture in &textures {
            assert!(texture.check().is_ok(), "{}", texture.name);
        }
        // Two textures of one name, for example, are read but not written.
        if let Ok(file) = write(kind, &textures, "again", order) {
            let again = read(&file, order);
            assert!(again.is_ok_and(|again| again.len() == textures.len()), "what was written is not read");
        }
    }
}

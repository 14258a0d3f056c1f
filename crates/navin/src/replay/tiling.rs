//! Between storage and images by the GPU alone, where it sees the storage: the submit thread then copies no bytes.
//!
//! [`content`](super::content) asks here first and copies by the CPU where the answer is no: storage that the GPU
//! reaches only as a copy or not in one piece (pages of a virtual pool), storage at addresses that its copies do not
//! take, a device whose GPU is the CPU (there the CPU's own copies are several times as fast), and `tiling = "cpu"`.
//!
//! The GPU reads when it gets there, not when the submission is replayed. What the guest writes in between counts as
//! written after the fill, because its pages were watched before; it is fetched again at the next use.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use navin_abi::fault;
use navin_vulkan::tiling::{Part, Storage};
use navin_vulkan::{Encoder, Image, QueueError, TilingError};

use crate::config::TilingChoice;
use crate::driver::Driver;
use crate::host::pools::bytes::Bytes;
use crate::host::textures::Texture;

/// Whether the GPU is to copy, as far as it can.
fn is_on(driver: &Driver) -> bool {
    match driver.config.tiling {
        TilingChoice::Auto => !driver.context.is_cpu(),
        TilingChoice::Cpu => false,
        TilingChoice::Gpu => true,
    }
}

/// Records the filling of parts of an image; false when the CPU has to do it.
pub(crate) fn fill(
    driver: &Driver,
    encoder: &mut Encoder,
    texture: &Texture,
    image: &Arc<Image>,
    bytes: &Bytes<'_>,
    parts: &[Part],
) -> bool {
    if !is_on(driver) {
        return false;
    }
    // The submission that is being recorded.
    let submission = driver.context.queue().submitted() + 1;
    let Some(range) = bytes.on_gpu(&driver.context, texture.layout.size, submission) else { return false };
    let storage = Storage { range, layout: &texture.layout, order: texture.order };
    encoder.barrier_all();
    let filled = encoder.untile_to_image(&storage, parts, image, image.aspects());
    encoder.barrier_all();
    match filled {
        Ok(()) => {
            driver.counters.gpu_fills.fetch_add(1, Ordering::Relaxed);
            true
        }
        Err(e) => refused(texture, &e),
    }
}

/// Why an image was not stored.
#[derive(Debug, thiserror::Error)]
enum StoreError {
    #[error(transparent)]
    Tiling(#[from] TilingError),
    #[error(transparent)]
    Queue(#[from] QueueError),
}

/// Stores the whole image and waits for it; false when the CPU has to do it.
pub(crate) fn store(driver: &Driver, texture: &Texture, image: &Arc<Image>, bytes: &Bytes<'_>) -> bool {
    // The CPU is to read what is stored.
    if !is_on(driver) || !bytes.cpu_writes() {
        return false;
    }
    let queue = driver.context.queue();
    let Some(range) = bytes.on_gpu(&driver.context, texture.layout.size, queue.submitted() + 1) else { return false };
    bytes.announce(0..texture.layout.size);
    let storage = Storage { range, layout: &texture.layout, order: texture.order };
    let stored = || -> Result<(), StoreError> {
        let mut encoder = queue.begin()?;
        encoder.barrier_all();
        encoder.tile_from_image(&storage, &Part::all(&texture.layout), image, image.aspects())?;
        let ticket = queue.submit(encoder)?;
        while !queue.wait(ticket, Duration::from_secs(1))? {}
        Ok(())
    };
    match stored() {
        Ok(()) => {
            driver.counters.gpu_stores.fetch_add(1, Ordering::Relaxed);
            true
        }
        Err(StoreError::Tiling(e)) => refused(texture, &e),
        // The device is lost: the CPU's way says so.
        Err(StoreError::Queue(_)) => false,
    }
}

/// Names what the GPU could not do, unless it is only the place of the bytes.
fn refused(texture: &Texture, error: &TilingError) -> bool {
    if !matches!(error, TilingError::Misaligned(_)) {
        fault!(
            key = texture.serial,
            "B305",
            "texture {}: the GPU cannot copy between image and storage ({error}); the CPU does",
            texture.serial
        );
    }
    false
}

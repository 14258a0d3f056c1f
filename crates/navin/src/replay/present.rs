//! Presents: a window texture on its way to the frame sink.
//!
//! The submit thread records the copy behind the queue's work; the display thread converts the pixels and
//! gives the frame to the run ([`crate::status`]) when the copy has ended. Without a display nothing paces a
//! guest but its own waits and the number of its window textures.

use ash::vk;
use navin_abi::fault;
use navin_sync::Ticket;
use navin_texture::{Format, FormatInfo};
use navin_vulkan::{Access, Readback};

use super::content::{self, Use};
use crate::driver::Driver;
use crate::host::windows::OnItsWay;

/// One present, as the queue's step.
pub(crate) struct Present {
    pub(crate) window: OnItsWay,
    pub(crate) texture: u64,
    /// Part of the texture that is shown: x, y, width, height; `None` for all.
    pub(crate) crop: Option<[u32; 4]>,
}

/// A frame whose copy is on its way.
pub(crate) struct Frame {
    pub(crate) index: u64,
    pub(crate) window: OnItsWay,
    pub(crate) pixels: Option<Pixels>,
}

/// What to make the picture from.
pub(crate) struct Pixels {
    readback: Readback,
    format: &'static FormatInfo,
    flip: bool,
    crop: Option<[u32; 4]>,
}

/// The submit thread's side of presenting.
pub(crate) struct Presenter {
    next: u64,
}

impl Presenter {
    pub(crate) fn new(_driver: &'static Driver) -> Self {
        Self { next: 0 }
    }

    pub(crate) fn present(&mut self, driver: &'static Driver, present: Present, after: Ticket) {
        let index = self.next;
        self.next += 1;
        let mut ticket = after;
        let mut pixels = None;
        if driver.run.wants_frame(index) {
            match self.record(driver, &present) {
                Some((recorded, copied)) => {
                    ticket = copied;
                    pixels = Some(recorded);
                }
                None => {
                    fault!(key = present.texture, "B303", "frame {index} could not be copied: it is not written");
                }
            }
        }
        driver.display.push(ticket, Frame { index, window: present.window, pixels });
    }

    fn record(&mut self, driver: &'static Driver, present: &Present) -> Option<(Pixels, Ticket)> {
        let texture = driver.textures.get(present.texture)?;
        let mut encoder = driver.context.queue().begin().ok()?;
        let image = content::image_for(driver, &mut encoder, &texture, Use::Read)?;
        encoder.barrier(Access::All, Access::Transfer);
        let readback = Readback::record(&mut encoder, &image, vk::ImageAspectFlags::COLOR, 0, 0, 1).ok()?;
        encoder.barrier(Access::Transfer, Access::Host);
        let ticket = driver.context.queue().submit(encoder).ok()?;
        let pixels = Pixels { readback, format: texture.format, flip: driver.modes.lower_left(), crop: present.crop };
        Some((pixels, ticket))
    }
}

impl Pixels {
    /// The picture: width, height, RGBA8 with the top row first. `None` for formats that no display has.
    pub(crate) fn picture(&self) -> Option<(u32, u32, Vec<u8>)> {
        let extent = self.readback.extent();
        let bytes = self.readback.bytes();
        let [x, y, width, height] = match self.crop {
            Some([x, y, w, h]) if w > 0 && h > 0 && x + w <= extent.width && y + h <= extent.height => [x, y, w, h],
            _ => [0, 0, extent.width, extent.height],
        };
        let texel = self.format.bytes_per_block as usize;
        let convert = converter(self.format)?;
        let mut out = Vec::with_capacity(width as usize * height as usize * 4);
        for row in 0..height {
            // LOWER_LEFT: the first row in memory is the lowest of the picture.
            let row = if self.flip { extent.height - 1 - (y + row) } else { y + row };
            let start = (row as usize * extent.width as usize + x as usize) * texel;
            let line = bytes.get(start..start + width as usize * texel)?;
            line.chunks_exact(texel).for_each(|texel| out.extend_from_slice(&convert(texel)));
        }
        Some((width, height, out))
    }
}

type Convert = fn(&[u8]) -> [u8; 4];

/// How a display shows a texel of the format. sRGB and linear formats are shown as stored, as a scan-out does.
fn converter(format: &FormatInfo) -> Option<Convert> {
    fn scale(value: u32, bits: u32) -> u8 {
        let most = (1 << bits) - 1;
        ((value * 255 + most / 2) / most) as u8
    }
    Some(match format.format {
        Format::RGBA8 | Format::RGBA8_SRGB => |t| [t[0], t[1], t[2], 255],
        Format::RGBX8 | Format::RGBX8_SRGB => |t| [t[0], t[1], t[2], 255],
        Format::BGRA8 | Format::BGRA8_SRGB | Format::BGRX8 | Format::BGRX8_SRGB => |t| [t[2], t[1], t[0], 255],
        Format::RGB10A2 => |t| {
            let v = u32::from_le_bytes([t[0], t[1], t[2], t[3]]);
            [scale(v & 0x3ff, 10), scale(v >> 10 & 0x3ff, 10), scale(v >> 20 & 0x3ff, 10), 255]
        },
        Format::RGB565 => |t| {
            let v = u32::from(u16::from_le_bytes([t[0], t[1]]));
            [scale(v & 31, 5), scale(v >> 5 & 63, 6), scale(v >> 11, 5), 255]
        },
        Format::BGR565 => |t| {
            let v = u32::from(u16::from_le_bytes([t[0], t[1]]));
            [scale(v >> 11, 5), scale(v >> 5 & 63, 6), scale(v & 31, 5), 255]
        },
        _ => {
            fault!(key = format.format.nvn(), "B303", "a window texture of format {}: not shown", format.name);
            return None;
        }
    })
}

//! Where presented frames go when there is no window: PNG files, raw files, or nowhere.
//!
//! Present hands each frame that [`FrameSink::wants`] to the sink as RGBA8 rows, top row first. The file sinks
//! give it to one writer thread through a queue of [`QUEUE`] frames, so that compressing overlaps with drawing
//! while memory stays bounded: present waits when the writer is that far behind.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread::JoinHandle;

use crate::config::Config;

/// Frames that may wait for the writer thread.
pub const QUEUE: usize = 4;

/// Takes presented frames.
pub trait FrameSink: Send {
    /// Whether frame `index` (counted from 0) is to be given to [`FrameSink::frame`]; the caller reads the
    /// picture back from the GPU only then.
    fn wants(&self, index: u64) -> bool;

    /// Takes frame `index`: `height` rows of `width` pixels, RGBA8, top row first, no padding.
    fn frame(&mut self, index: u64, width: u32, height: u32, rgba: &[u8]);

    /// Waits until everything taken so far is written.
    ///
    /// # Errors
    /// The first error of writing since the last call.
    fn flush(&mut self) -> io::Result<()>;
}

/// Opens the sink that `config` asks for, making its folder.
///
/// # Errors
/// The folder cannot be made, or the writer thread not be started.
pub fn open(config: &Config) -> io::Result<Box<dyn FrameSink>> {
    Ok(match &config.out {
        None => Box::new(NullSink),
        Some(folder) if config.raw => Box::new(RawSink::new(folder, config.every)?),
        Some(folder) => Box::new(PngSink::new(folder, config.every)?),
    })
}

/// Drops every frame.
#[derive(Clone, Copy, Debug, Default)]
pub struct NullSink;

impl FrameSink for NullSink {
    fn wants(&self, _index: u64) -> bool {
        false
    }
    fn frame(&mut self, _index: u64, _width: u32, _height: u32, _rgba: &[u8]) {}
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes `frame-000123.png` files.
pub struct PngSink(FileSink);

impl PngSink {
    /// Writes every `every`-th frame into `folder`, which is made if missing.
    ///
    /// # Errors
    /// The folder cannot be made, or the writer thread not be started.
    pub fn new(folder: &Path, every: u64) -> io::Result<Self> {
        FileSink::new(folder, every, |folder, picture| {
            let path = folder.join(format!("frame-{:06}.png", picture.index));
            write_whole(&path, |file| write_png(file, picture.width, picture.height, &picture.rgba))
        })
        .map(Self)
    }
}

/// Writes `frame-000123-1280x720.rgba` files: bare RGBA8 rows, top row first.
pub struct RawSink(FileSink);

impl RawSink {
    /// Writes every `every`-th frame into `folder`, which is made if missing.
    ///
    /// # Errors
    /// The folder cannot be made, or the writer thread not be started.
    pub fn new(folder: &Path, every: u64) -> io::Result<Self> {
        FileSink::new(folder, every, |folder, picture| {
            let name = format!("frame-{:06}-{}x{}.rgba", picture.index, picture.width, picture.height);
            write_whole(&folder.join(name), |file| file.write_all(&picture.rgba))
        })
        .map(Self)
    }
}

macro_rules! by_file_sink {
    ($($sink:ty),*) => {$(
        impl FrameSink for $sink {
            fn wants(&self, index: u64) -> bool {
                self.0.wants(index)
            }
            fn frame(&mut self, index: u64, width: u32, height: u32, rgba: &[u8]) {
                self.0.frame(index, width, height, rgba);
            }
            fn flush(&mut self) -> io::Result<()> {
                self.0.flush()
            }
        }
    )*};
}
by_file_sink!(PngSink, RawSink);

/// Writes RGBA8 rows as a PNG picture.
///
/// # Errors
/// `rgba` is shorter than `width * height * 4` bytes, or the output fails.
pub fn write_png(output: impl Write, width: u32, height: u32, rgba: &[u8]) -> io::Result<()> {
    let mut encoder = png::Encoder::new(output, width, height);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::Fast);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(rgba)?;
    Ok(writer.finish()?)
}

/// Writes a file under a name of its own and renames it, so that a reader never sees half a picture.
fn write_whole(path: &Path, write: impl FnOnce(&mut BufWriter<std::fs::File>) -> io::Result<()>) -> io::Result<()> {
    let part = path.with_extension("part");
    let mut file = BufWriter::new(std::fs::File::create(&part)?);
    let written = write(&mut file).and_then(|()| file.flush());
    drop(file);
    match written {
        Ok(()) => std::fs::rename(&part, path),
        Err(e) => {
            // Half a picture helps nobody; the first error is the one to report.
            let _ = std::fs::remove_file(&part);
            Err(e)
        }
    }
}

struct Picture {
    index: u64,
    width: u32,
    height: u32,
    rgba: Vec<u8>,
}

enum Work {
    Write(Picture),
    /// Answered with the first error since the last flush.
    Flush(mpsc::Sender<io::Result<()>>),
}

/// The writer thread and the queue to it. Dropping it writes what is queued.
struct FileSink {
    every: u64,
    work: Option<mpsc::SyncSender<Work>>,
    /// Buffers that the writer has done with.
    spare: mpsc::Receiver<Vec<u8>>,
    thread: Option<JoinHandle<()>>,
}

impl FileSink {
    fn new(
        folder: &Path,
        every: u64,
        mut write: impl FnMut(&PathBuf, &Picture) -> io::Result<()> + Send + 'static,
    ) -> io::Result<Self> {
        let context = |e: io::Error| io::Error::new(e.kind(), format!("folder for frames {}: {e}", folder.display()));
        std::fs::create_dir_all(folder).map_err(context)?;
        // Absolute, so that a guest that changes its working folder does not move the output.
        let folder = folder.canonicalize().map_err(context)?;
        let (work, queue) = mpsc::sync_channel(QUEUE);
        let (give_back, spare) = mpsc::channel();
        let thread = std::thread::Builder::new().name("navin-frames".into()).spawn(move || {
            let mut result = Ok(());
            for item in queue {
                match item {
                    Work::Write(picture) => {
                        let written = write(&folder, &picture);
                        if let Err(e) = &written {
                            tracing::error!("frame {} was not written: {e}", picture.index);
                        }
                        result = result.and(written);
                        // The sink may be gone already: then nobody needs the buffer.
                        let _ = give_back.send(picture.rgba);
                    }
                    Work::Flush(answer) => {
                        // A caller that no longer waits needs no answer.
                        let _ = answer.send(std::mem::replace(&mut result, Ok(())));
                    }
                }
            }
        })?;
        Ok(Self { every: every.max(1), work: Some(work), spare, thread: Some(thread) })
    }

    fn wants(&self, index: u64) -> bool {
        index.is_multiple_of(self.every)
    }

    fn frame(&mut self, index: u64, width: u32, height: u32, rgba: &[u8]) {
        let mut copy = self.spare.try_recv().unwrap_or_default();
        copy.clear();
        copy.extend_from_slice(rgba);
        let Some(work) = &self.work else { return };
        if work.send(Work::Write(Picture { index, width, height, rgba: copy })).is_err() {
            tracing::error!("frame {index} was not written: the writer thread is gone");
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        let gone = || io::Error::other("the writer thread of the frames is gone");
        let (answer, wait) = mpsc::channel();
        self.work.as_ref().ok_or_else(gone)?.send(Work::Flush(answer)).map_err(|_| gone())?;
        wait.recv().map_err(|_| gone())?
    }
}

impl Drop for FileSink {
    fn drop(&mut self) {
        self.work = None;
        if let Some(thread) = self.thread.take() {
            // A writer that panicked has said so on standard error.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("navin-sink-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        path
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn png_frames_keep_rows_and_colours() {
        let folder = folder("png");
        let config = Config { out: Some(folder.clone()), every: 2, ..Config::default() };
        let mut sink = open(&config).unwrap();
        let rgba: Vec<u8> = (0..3 * 2 * 4).map(|i| i as u8 * 7).collect();
        for index in 0..5 {
            assert_eq!(sink.wants(index), index % 2 == 0);
            if sink.wants(index) {
                sink.frame(index, 3, 2, &rgba);
            }
        }
        sink.flush().unwrap();
        assert_eq!(names(&folder), ["frame-000000.png", "frame-000002.png", "frame-000004.png"]);
        let file = io::BufReader::new(std::fs::File::open(folder.join("frame-000002.png")).unwrap());
        let mut reader = png::Decoder::new(file).read_info().unwrap();
        let mut read = vec![0; reader.output_buffer_size()];
        let info = reader.next_frame(&mut read).unwrap();
        assert_eq!((info.width, info.height, read), (3, 2, rgba));
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn raw_frames_are_the_bytes_given() {
        let folder = folder("raw");
        let mut sink = RawSink::new(&folder, 1).unwrap();
        sink.frame(7, 1, 2, &[1, 2, 3, 4, 5, 6, 7, 8]);
        sink.flush().unwrap();
        assert_eq!(std::fs::read(folder.join("frame-000007-1x2.rgba")).unwrap(), [1, 2, 3, 4, 5, 6, 7, 8]);
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_frame_that_cannot_be_written_is_an_error_of_flush_once() {
        let folder = folder("bad");
        let mut sink = PngSink::new(&folder, 1).unwrap();
        // Too few bytes for the size.
        sink.frame(0, 4, 4, &[0; 8]);
        assert!(sink.flush().is_err());
        assert!(sink.flush().is_ok());
        assert_eq!(names(&folder), Vec::<String>::new(), "half a picture was left");
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn dropping_the_sink_writes_what_is_queued() {
        let folder = folder("drop");
        let mut sink = RawSink::new(&folder, 1).unwrap();
        for index in 0..20 {
            sink.frame(index, 1, 1, &[0; 4]);
        }
        drop(sink);
        assert_eq!(names(&folder).len(), 20);
        std::fs::remove_dir_all(folder).unwrap();
    }
}

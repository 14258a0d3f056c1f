//! How often a piece that was recorded over is named: a test program of its own, as the count is the process's.

mod guest;

use std::sync::{Arc, Mutex};

use guest::*;
use navin_command::flatten;
use navin_command::record::op;

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn b225_a_cut_piece_is_named_eight_times_and_then_every_thousandth() {
    let lines = Lines::default();
    let writer = lines.clone();
    tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer.clone()).init();
    let (host, pool) = (host(), Pool::new(0x10000, 4096));
    let guest = Guest::new().with_command(host, &pool, 0, 1024).with_control(host, 256);
    let handle = guest.record_draws(host, [1, 2]);
    // Recorded over: a whole draw, and the head of a longer record.
    grant(guest.buffer(), host, &pool, 0, 1024);
    guest.buffer().begin(host);
    guest.draws(host, [3]);
    guest.buffer().record_run::<op::SetRenderTargets>(host, Default::default(), &(), 9, |_| Default::default());
    guest.buffer().end(host);
    for _ in 0..2000 {
        assert_eq!(counts(&flatten(host, &pool, [handle])), [3]);
    }
    let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    let named: Vec<&str> = text.lines().filter(|line| line.contains("recorded over after it was called")).collect();
    assert_eq!(named.len(), 8 + 2, "{text}");
    for line in named {
        // List, opcode, size, address, offset, the piece's size, and what is before the cut (B223).
        let what = [
            format!("{handle:#x}"),
            "at 0x1000c".into(),
            "byte 12 of a piece of 24".into(),
            "behind DrawArrays".into(),
            "SetRenderTargets (opcode 0x2c) of 55 words".into(),
            "[B225]".into(),
        ];
        assert!(what.iter().all(|what| line.contains(what)), "{line}");
    }
}

//! Archives: mapped, whatever their size. A program of its own, since it looks at what the process takes.
#![cfg(target_os = "linux")]

use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};

use navin_memory::alloc::Archive;

/// Bytes of the process's own memory that no file is behind.
fn anonymous() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).expect("RssAnon");
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
}

#[test]
fn b576_an_archive_of_a_gigabyte_takes_no_memory_of_the_process() {
    const LEN: u64 = 1 << 30;
    let path = std::env::temp_dir().join(format!("navin-archive-{}", std::process::id()));
    let mut file = File::create(&path).unwrap();
    // Sparse, so that the test costs no disk; read all the same.
    file.set_len(LEN).unwrap();
    for at in [0, 12_345_678, LEN - 8] {
        file.seek(SeekFrom::Start(at)).unwrap();
        file.write_all(&at.to_le_bytes()).unwrap();
    }
    drop(file);
    let before = anonymous();
    let archive = Archive::open(&path).unwrap();
    fs::remove_file(&path).unwrap();
    assert_eq!(archive.len(), LEN);
    let mut word = [0; 8];
    for at in [0, 12_345_678, LEN - 8] {
        assert_eq!(archive.read(at, &mut word), 8);
        assert_eq!(u64::from_le_bytes(word), at);
    }
    // Every page once, as a guest that loads everything would.
    let mut page = [0u8; 64];
    let read: usize = (0..LEN).step_by(4096).map(|at| archive.read(at, &mut page)).sum();
    assert_eq!(read as u64, LEN / 4096 * 64);
    let added = anonymous().saturating_sub(before);
    assert!(added < 16 << 20, "{added} bytes of the process's own");
    assert_eq!(archive.read(LEN - 3, &mut page), 3, "up to the end");
    assert_eq!((archive.read(LEN, &mut page), archive.read(u64::MAX, &mut page)), (0, 0));
    drop(archive);
    assert!(Archive::open(&path).is_err(), "no such file");
}

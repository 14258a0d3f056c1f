//! The example `overwritten_frames` on fewer frames: a test program of its own, as it opens the driver.

#[allow(dead_code)]
#[path = "../examples/overwritten_frames.rs"]
mod overwritten;

#[test]
fn b225_overwritten_frames_end_and_whole_ones_run_after_them() {
    overwritten::run(60, 1);
}

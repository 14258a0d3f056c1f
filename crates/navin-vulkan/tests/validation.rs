//! The validation layer is heard: without this a silent layer would make every other test vacuous.

mod common;

use common::*;
use navin_vulkan::{Context, OpenError, OpenOptions, QueueError, Validation, vk};

#[test]
fn a_wrong_command_is_counted_and_fails_the_submission_that_asked_for_it() {
    if std::env::var_os("NAVIN_VALIDATION").is_none_or(|value| value == "0") {
        eprintln!("SKIPPED: NAVIN_VALIDATION is not set");
        return;
    }
    let options = OpenOptions { validation: Validation::FailOnMessage, ..Default::default() };
    let context = Context::open(&options).expect("context");
    let buffer = upload_buffer(&context, &[0; 64]);
    let encoder = context.queue().begin().expect("encoder");
    // SAFETY: recording; the size of 3 bytes is wrong on purpose, and drivers take it.
    unsafe { context.device().cmd_fill_buffer(encoder.raw(), buffer.raw(), 0, 3, 0) };
    assert!(context.validation_messages() > 0);
    assert!(matches!(context.queue().submit(encoder), Err(QueueError::Validation(_))));
    let _ = context.queue().wait_idle();
}

#[test]
fn a_device_that_is_not_there_is_named() {
    let options =
        OpenOptions { device: navin_vulkan::DeviceChoice::Name("no such device".to_owned()), ..Default::default() };
    match Context::open(&options) {
        Err(error @ OpenError::NotFound { .. }) => assert!(error.to_string().contains("no such device")),
        Err(OpenError::NoLoader(_) | OpenError::NoDevice) => eprintln!("SKIPPED: no Vulkan here"),
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("opened it"),
    }
    let _ = vk::Format::UNDEFINED;
}

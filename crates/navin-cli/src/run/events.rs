//! The status lines of the guest's driver, read and added up.

use serde::Deserialize;
use serde_json::Value;

/// One status line; `navin::status` says what each means.
#[derive(Deserialize, Debug, PartialEq)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The driver is there.
    Start {},
    /// The device it opened.
    Device {
        /// Its name.
        name: String,
    },
    /// It found no device.
    NoDevice {
        /// What is missing and what to do.
        why: String,
    },
    /// A message of the validation layers.
    Validation {
        /// The message.
        text: String,
    },
    /// A frame was presented.
    Frame {
        /// From 0.
        index: u64,
        /// Since the frame before.
        ms: f64,
        /// Processor time of the guest's process in between.
        cpu_ms: f64,
    },
    /// The run is over.
    End {
        /// Frames presented.
        frames: u64,
        /// Faults reported, repeats included.
        #[serde(default)]
        faults: u64,
        /// Messages of the validation layers.
        #[serde(default)]
        validation_messages: u64,
        /// Why frames were not written.
        #[serde(default)]
        sink_error: Option<String>,
        /// The driver's counters.
        #[serde(default)]
        counters: Value,
    },
    /// Something that a newer driver says.
    #[serde(other)]
    Other,
}

/// What the lines came to.
#[derive(Default, Debug)]
pub struct Tally {
    /// Whether the driver was loaded at all.
    pub started: bool,
    /// The Vulkan device.
    pub device: Option<String>,
    /// Why there was none.
    pub no_device: Option<String>,
    /// Frames presented.
    pub frames: u64,
    /// Milliseconds of each frame but the first, which includes the guest's loading.
    pub ms: Vec<f64>,
    /// Processor milliseconds of the same frames.
    pub cpu_ms: Vec<f64>,
    /// The first messages of the validation layers.
    pub validation: Vec<String>,
    /// How many of them there were.
    pub validation_messages: u64,
    /// The `end` line.
    pub end: Option<End>,
}

/// What the `end` line carries besides what was counted on the way.
#[derive(Default, Debug)]
pub struct End {
    /// Faults, repeats included.
    pub faults: u64,
    /// Why frames were not written.
    pub sink_error: Option<String>,
    /// The driver's counters.
    pub counters: Value,
}

/// Validation messages kept for the summary.
const KEPT: usize = 10;

impl Tally {
    /// Adds one line; a line that is no status line is left out.
    pub fn line(&mut self, line: &[u8]) -> Option<Event> {
        let event: Event = serde_json::from_slice(line).ok()?;
        match &event {
            Event::Start {} => self.started = true,
            Event::Device { name } => self.device = Some(name.clone()),
            Event::NoDevice { why } => self.no_device = Some(why.clone()),
            Event::Validation { text } => {
                self.validation_messages += 1;
                if self.validation.len() < KEPT {
                    self.validation.push(text.clone());
                }
            }
            Event::Frame { index, ms, cpu_ms } => {
                if self.frames > 0 {
                    self.ms.push(*ms);
                    self.cpu_ms.push(*cpu_ms);
                }
                self.frames = self.frames.max(index.saturating_add(1));
            }
            Event::End { frames, faults, validation_messages, sink_error, counters } => {
                self.frames = self.frames.max(*frames);
                self.validation_messages = self.validation_messages.max(*validation_messages);
                self.end = Some(End { faults: *faults, sink_error: sink_error.clone(), counters: counters.clone() });
            }
            Event::Other => {}
        }
        Some(event)
    }
}

/// The value below which `share` (0 to 1) of `values` lie; 0 for none.
pub fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = ((sorted.len() as f64 - 1.0) * share).round().max(0.0) as usize;
    sorted.get(place).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_add_up() {
        let mut tally = Tally::default();
        for line in [
            r#"{"event":"start","version":"0.1.0","pid":1}"#,
            r#"{"event":"device","name":"llvmpipe"}"#,
            r#"{"event":"frame","index":0,"ms":500.0,"cpu_ms":400.0}"#,
            r#"{"event":"frame","index":1,"ms":16.0,"cpu_ms":12.0}"#,
            r#"{"event":"validation","text":"VUID"}"#,
            r#"{"event":"something new","x":[1]}"#,
            "not json",
            r#"{"event":"end","frames":2,"faults":3,"validation_messages":1,"sink_error":null,"counters":{"draws":4}}"#,
        ] {
            let event = tally.line(line.as_bytes());
            assert_eq!(event.is_none(), line == "not json", "{line}");
        }
        assert!(tally.started);
        assert_eq!((tally.frames, &tally.ms, &tally.cpu_ms), (2, &vec![16.0], &vec![12.0]));
        assert_eq!((tally.validation_messages, tally.validation.len()), (1, 1));
        let end = tally.end.unwrap();
        assert_eq!((end.faults, end.counters["draws"].as_u64()), (3, Some(4)));
    }

    #[test]
    fn quantiles_of_few_values() {
        assert_eq!(quantile(&[], 0.5), 0.0);
        assert_eq!(quantile(&[3.0], 0.99), 3.0);
        assert_eq!(quantile(&[5.0, 1.0, 3.0], 0.5), 3.0);
        assert_eq!(quantile(&[5.0, 1.0, 3.0], 1.0), 5.0);
    }
}

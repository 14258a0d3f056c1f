//! Configuration: one TOML file plus `NAVIN_*` variables of the same names.
//!
//! The driver loads it once, when the guest first asks for the bootstrap loader; `navin run` sets the variables
//! for its child, so both sides read the same names through this module. Precedence, weakest first: the built-in
//! values, the file, the variables. The file is the first of `$NAVIN_CONFIG`, `./navin.toml`,
//! `$XDG_CONFIG_HOME/navin/navin.toml` (or `~/.config/navin/navin.toml`). `docs/CONFIGURATION.md` shows every key.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use navin_memory::tracking::MechanismChoice;
use navin_vulkan::{CHUNKED_FROM, DeviceLocalChoice, ImportChoice};

/// What the Vulkan validation layers are used for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Validation {
    /// The layers are not loaded.
    #[default]
    Off,
    /// Messages are logged.
    Log,
    /// Messages are logged and counted, and a run with any of them ends with exit code 4.
    Fail,
}

/// What becomes of the process when the device is lost or its memory runs out again and again.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum DeviceLoss {
    /// It ends with exit code 6, a second after the guest's waits began to fail.
    #[default]
    End,
    /// It goes on: the guest's waits fail and nothing it submits runs.
    GoOn,
}

/// Where guest programs expect what the driver puts into constant banks 0 and 2
/// (`facts/nvn_driver_constants.md`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ConstantLayoutChoice {
    /// Told from each program's control section: programs of the open compiler that the test corpus is made with
    /// are known, everything else is taken for the platform's.
    #[default]
    Auto,
    /// The layout of the platform's own compiler.
    Production,
    /// The layout of the test corpus.
    Corpus,
}

/// Who copies between textures' storage and images.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TilingChoice {
    /// The GPU where it sees the storage, unless it is a CPU itself.
    #[default]
    Auto,
    /// The CPU.
    Cpu,
    /// The GPU where it sees the storage.
    Gpu,
}

/// The driver's settings. [`Config::load`] reads them; [`Config::default`] is a run without limit that writes no
/// frames.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Config {
    /// End the process after this many presents; `None` goes on until the guest ends.
    pub frames: Option<u64>,
    /// Folder that presented frames are written to; `None` writes none.
    pub out: Option<PathBuf>,
    /// Write every n-th frame (frame 0 first); at least 1.
    pub every: u64,
    /// Write raw RGBA8 rows instead of PNG files.
    pub raw: bool,
    /// Width and height that guests are asked to give their window, in pixels.
    pub size: Option<(u32, u32)>,
    /// Use of the Vulkan validation layers.
    pub validation: Validation,
    /// A run with any fault line ends with exit code 5.
    pub strict: bool,
    /// Filter of the log on standard error, in the notation of `tracing`'s `EnvFilter`.
    pub log: String,
    /// Part of the name of the Vulkan device to use, or its number in Vulkan's list; `None` takes the best.
    pub device: Option<String>,
    /// Vulkan extensions that count as missing.
    pub without: Vec<String>,
    /// Which constant layout guest programs were compiled for.
    pub constant_layout: ConstantLayoutChoice,
    /// Folder that each program's listing and SPIR-V are written to; `None` writes none.
    pub dump_shaders: Option<PathBuf>,
    /// Rounds after which all loops of a shader's thread together end (B604); `None`: never.
    pub loop_limit: Option<u32>,
    /// Frames a second of the display that stands in for one; `None` shows frames as they come.
    pub display_hz: Option<u64>,
    /// Guests' waits end on the GPU's own signal (B301); false: when the completion thread is through. `None`: as the
    /// Vulkan driver stands it.
    pub fast_wake: Option<bool>,
    /// Every wait of the guest for a sync is logged, target `navin::waits`.
    pub wait_ledger: bool,
    /// A submission that the GPU takes longer for is named (B235).
    pub watchdog: Duration,
    /// How often the log's line about memory comes (B124).
    pub memory_line: Duration,
    /// What becomes of the process with the device gone.
    pub on_device_loss: DeviceLoss,
    /// How the guest's writes into pools are noticed.
    pub tracking: MechanismChoice,
    /// How pools that the CPU sees come to the GPU.
    pub import: ImportChoice,
    /// Whether pools without CPU access live in device-local memory.
    pub device_local: DeviceLocalChoice,
    /// From how many bytes on a pool is imported in pieces, where the GPU needs it (B122); `u64::MAX` for never.
    pub chunked_from: u64,
    /// Each request of `nvnMemoryPoolMapVirtual` is logged (B113).
    pub log_mappings: bool,
    /// Who copies between textures' storage and images.
    pub tiling: TilingChoice,
    /// The console generation that guests were built for, 1 or 2; `None`: what the embedder says, else 1 (B305).
    pub generation: Option<u32>,
    /// File descriptor of the pipe on which the driver writes its status lines (see [`crate::status`]).
    pub status_fd: Option<i32>,
    /// Things worth a line in the log: variables that look like settings and are none.
    pub notes: Vec<String>,
}

/// What a submission may take before it is named (B235).
const WATCHDOG: Duration = Duration::from_secs(10);
const MEMORY_LINE: Duration = Duration::from_secs(10);

impl Default for Config {
    fn default() -> Self {
        Self {
            frames: None,
            out: None,
            every: 1,
            raw: false,
            size: None,
            validation: Validation::Off,
            strict: false,
            log: DEFAULT_LOG.to_owned(),
            device: None,
            without: Vec::new(),
            constant_layout: ConstantLayoutChoice::Auto,
            dump_shaders: None,
            loop_limit: None,
            display_hz: None,
            fast_wake: None,
            wait_ledger: false,
            watchdog: WATCHDOG,
            memory_line: MEMORY_LINE,
            on_device_loss: DeviceLoss::End,
            tracking: MechanismChoice::Auto,
            import: ImportChoice::Auto,
            device_local: DeviceLocalChoice::Auto,
            chunked_from: CHUNKED_FROM,
            log_mappings: false,
            tiling: TilingChoice::Auto,
            generation: None,
            status_fd: None,
            notes: Vec::new(),
        }
    }
}

/// Log filter when nothing is set: warnings and everything worse, fault lines among them.
const DEFAULT_LOG: &str = "warn";

/// One setting: its name in the file (`NAVIN_` and upper case as a variable), what a value looks like, and
/// whether the file may hold it.
pub struct Key {
    /// Name in `navin.toml`.
    pub name: &'static str,
    /// What a value must be, as said in error messages.
    pub expects: &'static str,
    /// What the setting does, in one line.
    pub about: &'static str,
    /// False for what only makes sense as a variable of one process.
    pub in_file: bool,
}

/// Every setting there is.
pub const KEYS: &[Key] = &[
    Key {
        name: "frames",
        expects: "a whole number from 1",
        about: "end after so many presented frames",
        in_file: true,
    },
    Key { name: "out", expects: "a folder", about: "write presented frames there", in_file: true },
    Key { name: "every", expects: "a whole number from 1", about: "write only every n-th frame", in_file: true },
    Key { name: "raw", expects: "true or false", about: "write raw RGBA8 instead of PNG", in_file: true },
    Key {
        name: "size",
        expects: "WIDTHxHEIGHT in pixels, such as 1280x720, each from 1 to 16384",
        about: "the window's size",
        in_file: true,
    },
    Key {
        name: "validation",
        expects: "off, log or fail",
        about: "load the Vulkan validation layers; fail: a message makes the run fail",
        in_file: true,
    },
    Key { name: "strict", expects: "true or false", about: "a fault line makes the run fail", in_file: true },
    Key { name: "log", expects: "a log filter such as warn or navin=debug", about: "what is logged", in_file: true },
    Key {
        name: "device",
        expects: "part of a device's name, or its number",
        about: "which Vulkan device to use",
        in_file: true,
    },
    Key {
        name: "without",
        expects: "names of Vulkan extensions, commas between them",
        about: "do as if the device had none of these extensions",
        in_file: true,
    },
    Key {
        name: "constant_layout",
        expects: "auto, production or corpus",
        about: "where guest programs expect the driver's constants",
        in_file: true,
    },
    Key {
        name: "dump_shaders",
        expects: "a folder",
        about: "write each program's listing and SPIR-V there",
        in_file: true,
    },
    Key {
        name: "loop_limit",
        expects: "a whole number from 1 to 4294967295",
        about: "end the loops of a shader's thread after so many rounds",
        in_file: true,
    },
    Key {
        name: "display_hz",
        expects: "a whole number from 1",
        about: "show so many frames a second, as a display does",
        in_file: true,
    },
    Key {
        name: "fast_wake",
        expects: "true or false",
        about: "waits end on the GPU's own signal; false, built in for NVIDIA: on the completion thread's",
        in_file: true,
    },
    Key { name: "wait_ledger", expects: "true or false", about: "log every wait for a sync", in_file: true },
    Key {
        name: "watchdog_s",
        expects: "a whole number of seconds from 1",
        about: "name a submission that the GPU takes longer for",
        in_file: true,
    },
    Key {
        name: "memory_line_s",
        expects: "a whole number of seconds from 1",
        about: "how often the log tells of memory, target navin::memory",
        in_file: true,
    },
    Key {
        name: "on_device_loss",
        expects: "end or go_on",
        about: "what becomes of the process when the device is lost",
        in_file: true,
    },
    Key {
        name: "tracking",
        expects: "auto, userfaultfd, mprotect or off",
        about: "how the guest's writes into memory pools are noticed",
        in_file: true,
    },
    Key {
        name: "import",
        expects: "auto, host_pointer, dma_buf or mirror",
        about: "how memory pools come to the GPU",
        in_file: true,
    },
    Key {
        name: "device_local",
        expects: "auto, never or always",
        about: "keep memory pools without CPU access in device memory",
        in_file: true,
    },
    Key {
        name: "chunk_mb",
        expects: "a whole number of MB, or never",
        about: "import larger memory pools in pieces",
        in_file: true,
    },
    Key {
        name: "log_mappings",
        expects: "true or false",
        about: "log each mapping of a virtual memory pool",
        in_file: true,
    },
    Key {
        name: "tiling",
        expects: "auto, cpu or gpu",
        about: "who copies between textures in memory and the GPU's images",
        in_file: true,
    },
    Key {
        name: "generation",
        expects: "auto, 1 or 2",
        about: "the console generation that guests were built for",
        in_file: true,
    },
    Key { name: "status_fd", expects: "an open file descriptor", about: "where status lines go", in_file: false },
];

/// `NAVIN_*` variables that are not settings of the driver but known to the programs around it.
const OTHER_VARIABLES: &[&str] = &["NAVIN_CONFIG", "NAVIN_WRAPPER", "NAVIN_BLESS", "NAVIN_CORPUS"];

/// A setting that could not be used. The text says where it stands, what is wrong and what would be right.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file could not be read.
    #[error("{path}: cannot be read ({why}); correct NAVIN_CONFIG, or remove it to do without a file")]
    Unreadable {
        /// The file.
        path: String,
        /// The system's word.
        why: String,
    },
    /// The file is no TOML.
    #[error("{path}: not valid TOML: {why}")]
    Syntax {
        /// The file.
        path: String,
        /// Line, column and reason.
        why: String,
    },
    /// The file holds a name that is no setting.
    #[error("{path}: `{key}` is no setting{}; the settings are: {}", Nearest(.key), names())]
    Unknown {
        /// The file.
        path: String,
        /// The name.
        key: String,
    },
    /// A value of the wrong kind.
    #[error("{place}: `{value}` will not do for {key}: it takes {expects}")]
    Value {
        /// The file or the variable.
        place: String,
        /// The setting.
        key: &'static str,
        /// What was found.
        value: String,
        /// What was expected.
        expects: &'static str,
    },
}

fn names() -> String {
    KEYS.iter().filter(|k| k.in_file).map(|k| k.name).collect::<Vec<_>>().join(", ")
}

/// Writes ` (did you mean ...?)` when a setting's name is within two edits.
struct Nearest<'a>(&'a str);
impl fmt::Display for Nearest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match KEYS.iter().filter(|k| k.in_file).min_by_key(|k| distance(k.name, self.0)) {
            Some(key) if distance(key.name, self.0) <= 2 => write!(f, " (did you mean `{}`?)", key.name),
            _ => Ok(()),
        }
    }
}

/// Levenshtein distance in bytes; setting names are short, so the plain table will do.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.bytes().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

impl Config {
    /// Reads the file, if there is one, and the process's variables.
    ///
    /// # Errors
    /// The first setting that cannot be used. A driver that must go on anyway reports it and takes
    /// [`Config::default`].
    pub fn load() -> Result<Self, ConfigError> {
        Self::load_with(&[])
    }

    /// As [`Config::load`], with variables that win over those of the process: what a child process will read
    /// that is given them.
    ///
    /// # Errors
    /// As [`Config::load`].
    pub fn load_with(overrides: &[(String, String)]) -> Result<Self, ConfigError> {
        let file = match Self::find_file() {
            Some(path) => match std::fs::read_to_string(&path) {
                Ok(text) => Some((path, text)),
                Err(why) => {
                    return Err(ConfigError::Unreadable { path: path.display().to_string(), why: why.to_string() });
                }
            },
            None => None,
        };
        let file = file.as_ref().map(|(path, text)| (path.as_path(), text.as_str()));
        let process = std::env::vars_os()
            .filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?)))
            .filter(|(k, _)| overrides.iter().all(|(o, _)| o != k));
        Self::from_sources(file, process.chain(overrides.iter().cloned()))
    }

    /// The file that [`Config::load`] reads, by the order in the module's description. `$NAVIN_CONFIG` is taken
    /// as it is, the others only when they exist.
    pub fn find_file() -> Option<PathBuf> {
        if let Some(path) = std::env::var_os("NAVIN_CONFIG").filter(|p| !p.is_empty()) {
            return Some(path.into());
        }
        let xdg = std::env::var_os("XDG_CONFIG_HOME")
            .filter(|p| !p.is_empty())
            .map(PathBuf::from)
            .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".config")));
        [Some(PathBuf::from("navin.toml")), xdg.map(|p| p.join("navin/navin.toml"))]
            .into_iter()
            .flatten()
            .find(|p| p.is_file())
    }

    /// Builds the settings from a file's text and from variables; what [`Config::load`] does, without the system.
    ///
    /// # Errors
    /// The first setting that cannot be used, the file's before the variables'.
    pub fn from_sources(
        file: Option<(&Path, &str)>,
        variables: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, ConfigError> {
        let mut config = Self::default();
        if let Some((path, text)) = file {
            let path = path.display().to_string();
            let table: toml::Table = text.parse().map_err(|e: toml::de::Error| ConfigError::Syntax {
                path: path.clone(),
                why: e.to_string().trim_end().to_owned(),
            })?;
            for (name, value) in &table {
                let key = KEYS
                    .iter()
                    .find(|k| k.in_file && k.name == name)
                    .ok_or_else(|| ConfigError::Unknown { path: path.clone(), key: name.clone() })?;
                // Every value has one text form, so that file and variables share one parser.
                let text = match value {
                    toml::Value::String(s) => s.clone(),
                    other => other.to_string(),
                };
                config.set(key, &text, &path)?;
            }
        }
        let mut unknown = Vec::new();
        for (variable, value) in variables {
            let Some(name) = variable.strip_prefix("NAVIN_") else { continue };
            match KEYS.iter().find(|k| k.name.eq_ignore_ascii_case(name)) {
                // An empty variable is an unset one, as shells and CI files can rarely unset.
                Some(_) if value.is_empty() => {}
                Some(key) => config.set(key, &value, &variable)?,
                None if OTHER_VARIABLES.contains(&variable.as_str()) => {}
                None => unknown.push(variable),
            }
        }
        unknown.sort();
        config.notes = unknown.into_iter().map(|v| format!("the variable {v} is no setting and is ignored")).collect();
        Ok(config)
    }

    fn set(&mut self, key: &'static Key, text: &str, place: &str) -> Result<(), ConfigError> {
        let bad = || ConfigError::Value {
            place: place.to_owned(),
            key: key.name,
            value: text.to_owned(),
            expects: key.expects,
        };
        match key.name {
            "frames" => self.frames = Some(parse_count(text).ok_or_else(bad)?),
            "out" => self.out = Some(PathBuf::from(text)),
            "every" => self.every = parse_count(text).ok_or_else(bad)?,
            "raw" => self.raw = parse_bool(text).ok_or_else(bad)?,
            "size" => self.size = Some(parse_size(text).ok_or_else(bad)?),
            "validation" => {
                self.validation = match text {
                    "off" | "0" | "false" => Validation::Off,
                    "log" | "1" | "true" => Validation::Log,
                    "fail" => Validation::Fail,
                    _ => return Err(bad()),
                }
            }
            "strict" => self.strict = parse_bool(text).ok_or_else(bad)?,
            "log" => {
                text.parse::<tracing_subscriber::EnvFilter>().map_err(|_| bad())?;
                self.log = text.to_owned();
            }
            "device" => self.device = Some(text.to_owned()),
            "without" => {
                let names: Vec<String> = text.split(',').map(|name| name.trim().to_owned()).collect();
                if names.iter().any(|name| !name.starts_with("VK_")) {
                    return Err(bad());
                }
                self.without = names;
            }
            "constant_layout" => {
                self.constant_layout = match text {
                    "auto" => ConstantLayoutChoice::Auto,
                    "production" => ConstantLayoutChoice::Production,
                    "corpus" => ConstantLayoutChoice::Corpus,
                    _ => return Err(bad()),
                }
            }
            "dump_shaders" => self.dump_shaders = Some(PathBuf::from(text)),
            "loop_limit" => {
                let rounds = parse_count(text).and_then(|n| u32::try_from(n).ok());
                self.loop_limit = Some(rounds.ok_or_else(bad)?);
            }
            "display_hz" => self.display_hz = Some(parse_count(text).ok_or_else(bad)?),
            "fast_wake" => self.fast_wake = Some(parse_bool(text).ok_or_else(bad)?),
            "wait_ledger" => self.wait_ledger = parse_bool(text).ok_or_else(bad)?,
            "watchdog_s" => self.watchdog = Duration::from_secs(parse_count(text).ok_or_else(bad)?),
            "memory_line_s" => self.memory_line = Duration::from_secs(parse_count(text).ok_or_else(bad)?),
            "on_device_loss" => {
                self.on_device_loss = match text {
                    "end" => DeviceLoss::End,
                    "go_on" => DeviceLoss::GoOn,
                    _ => return Err(bad()),
                }
            }
            "tracking" => {
                self.tracking = match text {
                    "auto" => MechanismChoice::Auto,
                    "userfaultfd" => MechanismChoice::Userfaultfd,
                    "mprotect" => MechanismChoice::Mprotect,
                    "off" => MechanismChoice::Off,
                    _ => return Err(bad()),
                }
            }
            "import" => {
                self.import = match text {
                    "auto" => ImportChoice::Auto,
                    "host_pointer" => ImportChoice::HostPointer,
                    "dma_buf" => ImportChoice::DmaBuf,
                    "mirror" => ImportChoice::Mirror,
                    _ => return Err(bad()),
                }
            }
            "device_local" => {
                self.device_local = match text {
                    "auto" => DeviceLocalChoice::Auto,
                    "never" => DeviceLocalChoice::Never,
                    "always" => DeviceLocalChoice::Always,
                    _ => return Err(bad()),
                }
            }
            "chunk_mb" => {
                self.chunked_from = match text {
                    "never" => u64::MAX,
                    _ => parse_count(text).and_then(|mb| mb.checked_mul(1 << 20)).ok_or_else(bad)?,
                }
            }
            "log_mappings" => self.log_mappings = parse_bool(text).ok_or_else(bad)?,
            "tiling" => {
                self.tiling = match text {
                    "auto" => TilingChoice::Auto,
                    "cpu" => TilingChoice::Cpu,
                    "gpu" => TilingChoice::Gpu,
                    _ => return Err(bad()),
                }
            }
            "generation" => {
                self.generation = match text {
                    "auto" => None,
                    "1" => Some(1),
                    "2" => Some(2),
                    _ => return Err(bad()),
                }
            }
            "status_fd" => self.status_fd = Some(text.parse().ok().filter(|fd| *fd >= 0).ok_or_else(bad)?),
            _ => return Err(bad()),
        }
        Ok(())
    }

    /// Sends the log to standard error by the filter [`Config::log`], unless the embedder has set a subscriber
    /// already, and logs [`Config::notes`].
    pub fn init_log(&self) {
        let filter = self.log.parse::<tracing_subscriber::EnvFilter>().unwrap_or_default();
        // Fails only when a subscriber is there already, which is then the one to use.
        let _ = tracing_subscriber::fmt()
            .with_env_filter(filter)
            .with_writer(|| crate::crash::Stderr)
            .with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()))
            .without_time()
            .try_init();
        for note in &self.notes {
            tracing::warn!("{note}");
        }
    }
}

fn parse_count(text: &str) -> Option<u64> {
    text.parse().ok().filter(|n| *n >= 1)
}

fn parse_bool(text: &str) -> Option<bool> {
    match text {
        "true" | "1" | "yes" | "on" => Some(true),
        "false" | "0" | "no" | "off" => Some(false),
        _ => None,
    }
}

/// Reads `WIDTHxHEIGHT`, each 1 to 16384 (NVN's largest texture side).
pub fn parse_size(text: &str) -> Option<(u32, u32)> {
    let (width, height) = text.split_once('x')?;
    let side = |s: &str| s.parse::<u32>().ok().filter(|n| (1..=16384).contains(n));
    Some((side(width)?, side(height)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(file: &str, variables: &[(&str, &str)]) -> Result<Config, ConfigError> {
        Config::from_sources(
            Some((Path::new("navin.toml"), file)),
            variables.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())),
        )
    }

    #[test]
    fn every_key_is_understood_in_the_file() {
        let config = load(
            "frames = 300\nout = \"frames\"\nevery = 10\nraw = true\nsize = \"640x360\"\nvalidation = \"fail\"\n\
             strict = true
log = \"navin=debug\"
device = \"llvmpipe\"
tracking = \"mprotect\"
\
             import = \"dma_buf\"
device_local = \"never\"
chunk_mb = 64
log_mappings = true
tiling = \"gpu\"
generation = 2
loop_limit = 1001
\
             without = \"VK_EXT_a, VK_EXT_b\"\nfast_wake = false
",
            &[],
        )
        .unwrap();
        let expected = Config {
            frames: Some(300),
            out: Some("frames".into()),
            every: 10,
            raw: true,
            size: Some((640, 360)),
            validation: Validation::Fail,
            strict: true,
            log: "navin=debug".into(),
            device: Some("llvmpipe".into()),
            without: vec!["VK_EXT_a".into(), "VK_EXT_b".into()],
            constant_layout: ConstantLayoutChoice::Auto,
            dump_shaders: None,
            loop_limit: Some(1001),
            display_hz: None,
            fast_wake: Some(false),
            wait_ledger: false,
            watchdog: WATCHDOG,
            memory_line: MEMORY_LINE,
            on_device_loss: DeviceLoss::End,
            tracking: MechanismChoice::Mprotect,
            import: ImportChoice::DmaBuf,
            device_local: DeviceLocalChoice::Never,
            chunked_from: 64 << 20,
            log_mappings: true,
            tiling: TilingChoice::Gpu,
            generation: Some(2),
            status_fd: None,
            notes: vec![],
        };
        assert_eq!(config, expected);
    }

    #[test]
    fn variables_win_over_the_file_and_empty_ones_do_not_count() {
        let config =
            load("frames = 300\nevery = 2", &[("NAVIN_FRAMES", "5"), ("NAVIN_EVERY", ""), ("NAVIN_STATUS_FD", "7")])
                .unwrap();
        assert_eq!((config.frames, config.every, config.status_fd), (Some(5), 2, Some(7)));
    }

    #[test]
    fn errors_say_where_and_what_would_be_right() {
        let say = |file: &str, variables: &[(&str, &str)]| load(file, variables).unwrap_err().to_string();
        assert_eq!(
            say("", &[("NAVIN_SIZE", "huge")]),
            "NAVIN_SIZE: `huge` will not do for size: it takes WIDTHxHEIGHT in pixels, such as 1280x720, each from 1 to 16384"
        );
        let unknown = say("frame = 3", &[]);
        assert!(unknown.starts_with("navin.toml: `frame` is no setting (did you mean `frames`?)"), "{unknown}");
        assert!(say("status_fd = 3", &[]).contains("is no setting"), "a descriptor means nothing in a file");
        assert!(say("frames = 0", &[]).contains("a whole number from 1"));
        assert!(say("frames = [1]", &[]).contains("`[1]`"));
        assert!(say("frames = ", &[]).contains("line 1"));
        assert!(say("", &[("NAVIN_LOG", "a=b=c=")]).contains("NAVIN_LOG"));
    }

    #[test]
    fn a_variable_that_looks_like_a_setting_is_noted() {
        let config = load("", &[("NAVIN_FRAME", "3"), ("NAVIN_CONFIG", "x"), ("PATH", "y")]).unwrap();
        assert_eq!(config.notes, ["the variable NAVIN_FRAME is no setting and is ignored"]);
    }

    #[test]
    fn sizes_outside_the_hardware_are_refused() {
        assert_eq!(parse_size("16384x1"), Some((16384, 1)));
        for text in ["0x1", "1x16385", "1X1", "1x", "x", "-1x1", "1x1x1", ""] {
            assert_eq!(parse_size(text), None, "{text}");
        }
    }
}

//! Asks Vulkan what there is, in a process of its own: a driver that crashes when it is asked must not take the
//! chores along, and a driver installed a moment ago is seen by a fresh process.

use std::ffi::CStr;
use std::process::Command;

use anyhow::{Context, Result, bail};
use ash::{ext, vk};
use serde::{Deserialize, Serialize};

use crate::shell;

/// What Navin cannot do without. `navin-vulkan` has the last word (`navin doctor`); this is enough to choose
/// what to install.
const REQUIRED: [&CStr; 3] = [ext::shader_object::NAME, ext::robustness2::NAME, ext::external_memory_host::NAME];
const REQUIRED_API: u32 = vk::API_VERSION_1_3;

/// What was found.
#[derive(Serialize, Deserialize, Default)]
pub struct Answer {
    /// Every device.
    pub devices: Vec<Device>,
    /// Version of the Khronos validation layer, if one is there: major, minor, patch.
    pub validation: Option<(u32, u32, u32)>,
}

/// A Vulkan device.
#[derive(Serialize, Deserialize)]
pub struct Device {
    /// Name.
    pub name: String,
    /// Version, such as 1.4.
    pub api: String,
    /// Driver in its own words.
    pub driver: String,
    /// What Navin needs and the device lacks.
    pub missing: Vec<String>,
}

impl Device {
    /// Whether Navin can use it.
    pub fn usable(&self) -> bool {
        self.missing.is_empty()
    }
    /// In words.
    pub fn verdict(&self) -> String {
        if self.usable() {
            format!("usable (Vulkan {}, {})", self.api, self.driver)
        } else {
            format!("lacks {}", self.missing.join(", "))
        }
    }
}

impl Answer {
    /// Whether some device is usable.
    pub fn usable(&self) -> bool {
        self.devices.iter().any(Device::usable)
    }
    /// All devices, in words.
    pub fn verdicts(&self) -> String {
        let all: Vec<_> = self.devices.iter().map(|device| format!("{} {}", device.name, device.verdict())).collect();
        if all.is_empty() { "no device".into() } else { all.join("; ") }
    }
}

/// This program as its own probe.
pub fn this_program() -> Result<Command> {
    let mut command = Command::new(std::env::current_exe().context("finding this program")?);
    command.arg("probe");
    Ok(command)
}

/// Runs a probe and reads its answer.
///
/// # Errors
/// There is no Vulkan loader, or the probe died.
pub fn ask(command: &mut Command) -> Result<Answer> {
    let output = command.output().with_context(|| format!("starting {}", shell::shown(command)))?;
    if !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stderr).trim());
    }
    serde_json::from_slice(&output.stdout).context("what the probe printed")
}

/// The probe itself: prints an [`Answer`].
pub fn run() -> Result<()> {
    println!("{}", serde_json::to_string(&look()?)?);
    Ok(())
}

fn look() -> Result<Answer> {
    // SAFETY: loading the system's Vulkan loader runs its initialisers, which is what this process is for.
    let entry = unsafe { ash::Entry::load() }.context("the Vulkan loader is missing")?;
    // SAFETY: called on a loaded entry; no other requirement.
    let layers = unsafe { entry.enumerate_instance_layer_properties() }.context("asking for layers")?;
    let validation = layers
        .iter()
        .find(|layer| layer.layer_name_as_c_str() == Ok(c"VK_LAYER_KHRONOS_validation"))
        .map(|layer| version(layer.spec_version));
    let application = vk::ApplicationInfo::default().api_version(REQUIRED_API);
    let create = vk::InstanceCreateInfo::default().application_info(&application);
    // SAFETY: the create structure and what it points to live until the call returns.
    let instance = match unsafe { entry.create_instance(&create, None) } {
        Ok(instance) => instance,
        // No driver at all, or none of this version, is an answer and no error.
        Err(vk::Result::ERROR_INCOMPATIBLE_DRIVER) => return Ok(Answer { devices: vec![], validation }),
        Err(e) => return Err(e).context("making a Vulkan instance"),
    };
    // SAFETY: the instance is live.
    let devices = unsafe { instance.enumerate_physical_devices() }.unwrap_or_default();
    let devices = devices.into_iter().map(|device| describe(&instance, device)).collect();
    // SAFETY: nothing made from the instance is left.
    unsafe { instance.destroy_instance(None) };
    Ok(Answer { devices, validation })
}

fn describe(instance: &ash::Instance, device: vk::PhysicalDevice) -> Device {
    let mut driver = vk::PhysicalDeviceDriverProperties::default();
    let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut driver);
    // SAFETY: the device is of this instance; the chain holds structures that Vulkan 1.2 knows, and a device
    // below that leaves the unknown one as it is.
    unsafe { instance.get_physical_device_properties2(device, &mut properties) };
    let properties = properties.properties;
    // SAFETY: the device is of this instance.
    let extensions = unsafe { instance.enumerate_device_extension_properties(device) }.unwrap_or_default();
    let has = |name: &CStr| extensions.iter().any(|e| e.extension_name_as_c_str() == Ok(name));
    let mut missing: Vec<String> =
        REQUIRED.iter().filter(|name| !has(name)).map(|name| name.to_string_lossy().into_owned()).collect();
    if properties.api_version < REQUIRED_API {
        missing.insert(0, "Vulkan 1.3".into());
    }
    let text = |name: Result<&CStr, _>| name.map_or_else(|_| String::new(), |n| n.to_string_lossy().into_owned());
    let (major, minor, patch) = version(properties.api_version);
    Device {
        name: text(properties.device_name_as_c_str()),
        api: format!("{major}.{minor}.{patch}"),
        driver: text(driver.driver_info_as_c_str()),
        missing,
    }
}

/// Major, minor, patch of a Vulkan version number.
fn version(number: u32) -> (u32, u32, u32) {
    (vk::api_version_major(number), vk::api_version_minor(number), vk::api_version_patch(number))
}

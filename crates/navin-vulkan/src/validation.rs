//! The validation layer's messages: logged, counted, and kept for whoever wants to fail on one.
//!
//! The layer calls [`on_message`] on whatever thread made the offending call; the text goes to the `tracing`
//! target `navin::validation`, the counts to [`Messages`], which [`Queue::submit`](crate::Queue::submit) reads
//! when the context was opened with [`Validation::FailOnMessage`](crate::Validation::FailOnMessage).

use std::ffi::{CStr, c_void};
use std::sync::atomic::{AtomicU64, Ordering};

use ash::vk;
use parking_lot::Mutex;

/// Name of the layer.
pub(crate) const LAYER: &CStr = c"VK_LAYER_KHRONOS_validation";

/// The first version of the layer that knows shader objects well enough to run Navin under.
pub(crate) const LEAST_LAYER_VERSION: u32 = vk::make_api_version(0, 1, 3, 280);

/// Messages about what others do: some drivers and layers look instance functions up on the device at its creation,
/// before Navin has made a call of its own on it; a guest's program may write colours where the guest bound no target,
/// in a pass for depth alone, and they go nowhere.
const NOT_OURS: [&CStr; 2] =
    [c"WARNING-vkGetDeviceProcAddr-device", c"Undefined-Value-ShaderOutputNotConsumed-DynamicRendering"];

/// What the layer said. Boxed, so that its address stays while the messenger lives.
#[derive(Default)]
pub(crate) struct Messages {
    count: AtomicU64,
    first_unreported: Mutex<Option<String>>,
}

impl Messages {
    /// Warnings and errors so far.
    pub(crate) fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// The first warning or error since the last call.
    pub(crate) fn take_first(&self) -> Option<String> {
        if self.count() == 0 {
            return None;
        }
        self.first_unreported.lock().take()
    }

    fn add(&self, text: &str) {
        self.count.fetch_add(1, Ordering::Relaxed);
        let mut first = self.first_unreported.lock();
        if first.is_none() {
            *first = Some(text.to_owned());
        }
    }
}

/// The messenger's description, `user` being where the messages are counted.
pub(crate) fn messenger_info(messages: &Messages) -> vk::DebugUtilsMessengerCreateInfoEXT<'_> {
    vk::DebugUtilsMessengerCreateInfoEXT::default()
        .message_severity(vk::DebugUtilsMessageSeverityFlagsEXT::ERROR | vk::DebugUtilsMessageSeverityFlagsEXT::WARNING)
        .message_type(vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION | vk::DebugUtilsMessageTypeFlagsEXT::PERFORMANCE)
        .pfn_user_callback(Some(on_message))
        .user_data(std::ptr::from_ref(messages).cast_mut().cast())
}

/// # Safety
/// Called by Vulkan with `user` from [`messenger_info`].
unsafe extern "system" fn on_message(
    severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    _kind: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    user: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: Vulkan passes valid data, and the pointer from `messenger_info`, whose target outlives the messenger.
    let (data, messages) = unsafe { (data.as_ref(), user.cast::<Messages>().as_ref()) };
    let (Some(data), Some(messages)) = (data, messages) else { return vk::FALSE };
    // SAFETY: the member is null or a C string that lives through the call.
    if unsafe { data.message_id_name_as_c_str() }.is_some_and(|id| NOT_OURS.contains(&id)) {
        return vk::FALSE;
    }
    // SAFETY: as above.
    let text = match unsafe { data.message_as_c_str() } {
        Some(text) => text.to_string_lossy().into_owned(),
        None => return vk::FALSE,
    };
    if severity.contains(vk::DebugUtilsMessageSeverityFlagsEXT::ERROR) {
        tracing::error!(target: "navin::validation", "{text}");
    } else {
        tracing::warn!(target: "navin::validation", "{text}");
    }
    messages.add(&text);
    vk::FALSE
}

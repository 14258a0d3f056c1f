//! Every function but the recording calls, on null, zeroed, garbage and live objects with good and bad numbers.

use std::collections::HashMap;

use navin_abi::for_each_nvn_function;
use navin_abi::records::state::*;
use navin_abi::records::*;
use navin_abi::types::*;
use navin_abi::{FunctionId, sizes};

use super::Guarded;
use crate::entry::table::entry_point;

/// What the guest's objects hold.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Content {
    Null,
    Zeros,
    Garbage,
    Live,
}

/// The memory of a guest: one object of each type, and room for arrays and out-parameters.
struct World {
    content: Content,
    objects: HashMap<&'static str, Guarded>,
    scratch: Vec<u64>,
    number: u64,
}

/// One record of each type, as Initialize and SetDefaults leave them, over `scratch`.
fn live_objects(scratch: u64, size: u64) -> Vec<(&'static str, usize, Vec<u8>)> {
    let fields = TextureFields { width: 64, height: 64, format: 0x25, ..TextureFields::DEFAULT };
    macro_rules! objects {
        ($($name:literal, $size:ident: $record:expr;)*) => {
            vec![$(($name, sizes::$size, bytemuck::bytes_of(&$record).to_vec()),)*]
        };
    }
    objects! {
        "NVNblendState", MIN_NVNBLENDSTATE: BlendState::DEFAULT;
        "NVNbuffer", MIN_NVNBUFFER: BufferRecord::new(0, 1, 0x10_0000, 0, 256);
        "NVNbufferBuilder", MIN_NVNBUFFERBUILDER: BufferBuilderRecord::new(0);
        "NVNchannelMaskState", MIN_NVNCHANNELMASKSTATE: ChannelMaskState::DEFAULT;
        "NVNcolorState", MIN_NVNCOLORSTATE: ColorState::DEFAULT;
        "NVNdepthStencilState", MIN_NVNDEPTHSTENCILSTATE: DepthStencilState::DEFAULT;
        "NVNdevice", MIN_NVNDEVICE: DeviceRecord::new(0);
        "NVNdeviceBuilder", MIN_NVNDEVICEBUILDER: DeviceBuilderRecord::new();
        "NVNevent", MIN_NVNEVENT: EventRecord::new(0, 1, 0, 0x10_0000, scratch);
        "NVNeventBuilder", MIN_NVNEVENTBUILDER: EventBuilderRecord::new();
        "NVNmemoryPool", MIN_NVNMEMORYPOOL: MemoryPoolRecord::new(1, 0x10_0000, scratch, size, 0x22);
        "NVNmemoryPoolBuilder", MIN_NVNMEMORYPOOLBUILDER: MemoryPoolBuilderRecord::new(0);
        "NVNmultisampleState", MIN_NVNMULTISAMPLESTATE: MultisampleState::DEFAULT;
        "NVNpolygonState", MIN_NVNPOLYGONSTATE: PolygonState::DEFAULT;
        "NVNprogram", MIN_NVNPROGRAM: ProgramRecord::new(1);
        "NVNqueue", MIN_NVNQUEUE: QueueRecord::new(1, 0);
        "NVNqueueBuilder", MIN_NVNQUEUEBUILDER: QueueBuilderRecord::new(0, [1, 2, 3, 4, 5]);
        "NVNsampler", MIN_NVNSAMPLER: SamplerRecord::new(SamplerState::DEFAULT);
        "NVNsamplerBuilder", MIN_NVNSAMPLERBUILDER: SamplerBuilderRecord { device: 0, state: SamplerState::DEFAULT };
        "NVNsamplerPool", MIN_NVNSAMPLERPOOL: SamplerPoolRecord::new(1, 0, 1, 0, 512);
        "NVNsync", MIN_NVNSYNC: SyncRecord::new(1);
        "NVNtexture", MIN_NVNTEXTURE: TextureRecord::new(1, 0, 1, 0x10_0000, 0, 0x4000, fields);
        "NVNtextureBuilder", MIN_NVNTEXTUREBUILDER: TextureBuilderRecord::new(0);
        "NVNtexturePool", MIN_NVNTEXTUREPOOL: TexturePoolRecord::new(2, 0, 1, 0, 512);
        "NVNtextureView", MIN_NVNTEXTUREVIEW: ViewDesc::NONE;
        "NVNvertexAttribState", MIN_NVNVERTEXATTRIBSTATE: VertexAttribState::DEFAULT;
        "NVNvertexStreamState", MIN_NVNVERTEXSTREAMSTATE: VertexStreamState::DEFAULT;
        "NVNwindow", MIN_NVNWINDOW: WindowRecord::new(1, 0, 1, [64, 64]);
        "NVNwindowBuilder", MIN_NVNWINDOWBUILDER: WindowBuilderRecord::new(0);
        "NVNcommandBuffer", MIN_NVNCOMMANDBUFFER: [0u64; 20];
    }
}

impl World {
    fn new(content: Content, number: u64) -> Self {
        // Room for the longest arrays that the numbers ask for.
        let mut scratch = vec![0u64; 4096];
        let at = scratch.as_mut_ptr() as u64;
        let size = size_of_val(&scratch[..]) as u64;
        let objects = live_objects(at, size).into_iter().map(|(name, object_size, record)| {
            let fill = if content == Content::Garbage { 0xcc } else { 0 };
            let mut object = Guarded::new(object_size, fill);
            if content == Content::Live {
                object.bytes[object.start..][..record.len()].copy_from_slice(&record);
            }
            (name, object)
        });
        Self { content, objects: objects.collect(), scratch, number }
    }

    /// An argument of type `T`: the object that a pointer's type names, scratch for other pointers, null for
    /// callbacks, the world's number for numbers.
    fn argument<T>(&mut self) -> T {
        assert!(size_of::<T>() <= 8);
        let name = std::any::type_name::<T>();
        let pointee = name.rsplit("::").next().unwrap_or(name);
        let bits: u64 = if name.contains("Option<") || name.starts_with('*') && self.content == Content::Null {
            0
        } else if name.starts_with('*') {
            let single = name.matches('*').count() == 1;
            match self.objects.get_mut(pointee) {
                Some(object) if single => object.at::<u8>() as u64,
                _ => self.scratch.as_mut_ptr() as u64,
            }
        } else {
            self.number
        };
        // SAFETY: `T` is a number, a pointer, a callback or a struct of one number, of at most 8 bytes: any bits
        // that are no callback's are a value of it, and a callback's are zero.
        unsafe { std::mem::transmute_copy(&bits) }
    }

    fn check(&self, call: &str) {
        for (name, object) in &self.objects {
            let (content, number) = (self.content, self.number);
            assert!(object.is_intact(), "{call} wrote beside its {name} ({content:?} objects, number {number:#x})");
        }
    }
}

/// The bytes of what a function returned, for comparing with an address.
fn bits<T>(value: T) -> u64 {
    let mut bits = 0u64;
    // SAFETY: at most 8 bytes of a value without padding are copied.
    unsafe {
        std::ptr::copy_nonoverlapping((&raw const value).cast::<u8>(), (&raw mut bits).cast(), size_of::<T>().min(8))
    };
    bits
}

macro_rules! callers {
    ($(($id:literal, $name:ident, ($($arg:ident: $ty:ty),*), $ret:ty))*) => {
        /// For each function its name and how to call it in a world.
        const CALLERS: &[(&str, fn(&mut World) -> u64)] = &[$((stringify!($name), |_world| {
            // SAFETY: the table holds a function of this very type under this id.
            let function: navin_abi::pfn::$name = unsafe { std::mem::transmute(entry_point(FunctionId($id))) };
            // SAFETY: pointers lead to the world's memory or are null; garbage objects are what is tested.
            bits(unsafe { function($(_world.argument::<$ty>()),*) })
        }),)*];
    };
}
for_each_nvn_function!(callers);

/// Recording has tests of its own; opening a device is tested where one may be opened.
fn is_tested(name: &str, content: Content) -> bool {
    !name.starts_with("nvnCommandBuffer") && (name != "nvnDeviceInitialize" || content == Content::Garbage)
}

#[test]
fn b101_no_function_writes_beside_its_object_whatever_it_holds() {
    for content in [Content::Null, Content::Zeros, Content::Garbage, Content::Live] {
        for number in [0, 1, 7, 300, 0x7fff_ffff, u64::MAX, 0x3f80_0000] {
            for (name, call) in CALLERS.iter().filter(|(name, _)| is_tested(name, content)) {
                let mut world = World::new(content, number);
                call(&mut world);
                world.check(name);
            }
        }
    }
}

#[test]
fn b423_a_getter_of_garbage_never_answers_with_an_address() {
    for content in [Content::Null, Content::Zeros, Content::Garbage] {
        for (name, call) in CALLERS.iter().filter(|(name, _)| is_tested(name, content) && name.contains("Get")) {
            let mut world = World::new(content, 0);
            let answer = call(&mut world);
            let addresses = world.objects.values().map(|object| object.bytes().as_ptr() as u64);
            assert!(answer == 0 || addresses.into_iter().all(|at| at != answer), "{name} of {content:?}: {answer:#x}");
        }
    }
}

#[test]
fn every_object_function_has_a_behaviour() {
    let implemented: std::collections::HashSet<u16> =
        super::super::LISTS.iter().flat_map(|list| list.iter().map(|(id, _)| id.0)).collect();
    let missing: Vec<&str> = (0..)
        .zip(CALLERS)
        .filter(|(id, (name, _))| !name.starts_with("nvnCommandBuffer") && !implemented.contains(id))
        .map(|(_, (name, _))| *name)
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

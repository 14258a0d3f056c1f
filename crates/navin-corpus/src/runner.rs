//! Runs one program in its forms and judges the outcome.

use anyhow::Result;
use ash::vk;
use serde::{Deserialize, Serialize};

use crate::compare::{Mismatch, Plane};
use crate::gpu::{Arena, Gpu, GpuError};
use crate::guest::{self, Refusal, Tables};
use crate::index::{Corpus, Program};
use crate::reference;
use crate::resources::{Contents, Resources};
use crate::scene::{Scene, Work};
use crate::texel::Texel;

/// Which runs are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// The reference with the guest form.
    Guest,
    /// The reference with itself: proves the runner.
    Reference,
    /// The reference with itself on a changed input: must be seen.
    Corrupted,
}

/// What came of a program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Both runs agree.
    Pass,
    /// They do not.
    Mismatch(Mismatch),
    /// The translator refused a program.
    Unsupported(String),
    /// The device lacks something, or the program cannot be compared.
    Skipped(String),
    /// A run failed: no pipeline, no end, a crash.
    Failed(String),
}

impl Outcome {
    /// One word.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Mismatch(_) => "mismatch",
            Self::Unsupported(_) => "unsupported",
            Self::Skipped(_) => "skipped",
            Self::Failed(_) => "failed",
        }
    }

    /// The reason, empty for a pass.
    pub fn reason(&self) -> String {
        match self {
            Self::Pass => String::new(),
            Self::Mismatch(m) => m.to_string(),
            Self::Unsupported(s) | Self::Skipped(s) | Self::Failed(s) => s.clone(),
        }
    }
}

/// A device with its tables.
pub struct Runner<'g> {
    gpu: &'g Gpu,
    tables: Tables<'g>,
    corpus: Corpus,
}

impl<'g> Runner<'g> {
    /// A runner on `gpu`.
    ///
    /// # Errors
    /// If the device refuses the tables.
    pub fn new(gpu: &'g Gpu, corpus: Corpus) -> Result<Self> {
        Ok(Self { gpu, tables: Tables::new(gpu)?, corpus })
    }

    /// Runs `name` and compares as `mode` says.
    ///
    /// # Errors
    /// Only when a submission did not end: the device is then lost, and so is this runner.
    pub fn run(&self, name: &str, mode: Mode) -> Result<Outcome, GpuError> {
        let outcome = self.try_run(name, mode);
        match outcome {
            Ok(outcome) => Ok(outcome),
            Err(error) => match error.downcast::<GpuError>() {
                Ok(GpuError::Timeout) => Err(GpuError::Timeout),
                Ok(error) => Ok(Outcome::Failed(error.to_string())),
                Err(error) => Ok(Outcome::Failed(format!("{error:#}"))),
            },
        }
    }

    fn try_run(&self, name: &str, mode: Mode) -> Result<Outcome> {
        let program = self.corpus.get(name)?;
        let Some(scene) = Scene::new(&self.corpus, program)? else {
            return Ok(Outcome::Skipped("a companion of other programs".into()));
        };
        if let Some(reason) = self.lacking(program) {
            return Ok(Outcome::Skipped(reason));
        }
        // A program that is not translated needs no reference run.
        let guest = match mode {
            Mode::Guest => match self.guest(&scene) {
                Ok(planes) => planes,
                Err(Refusal::Unsupported { program, error }) => {
                    return Ok(Outcome::Unsupported(format!("{program}: {error}")));
                }
                Err(Refusal::Failed(error)) => return Err(error.context("guest form")),
            },
            Mode::Reference => self.reference(&scene, Contents::Standard)?,
            Mode::Corrupted => self.reference(&scene, Contents::Other)?,
        };
        let reference = self.reference(&scene, Contents::Standard)?;
        if mode == Mode::Reference && reference.iter().all(|plane| plane.untouched) {
            return Ok(Outcome::Failed("the reference leaves nothing behind that could be compared".into()));
        }
        Ok(match program.compare.compare(&reference, &guest) {
            None => Outcome::Pass,
            Some(mismatch) => Outcome::Mismatch(mismatch),
        })
    }

    fn reference(&self, scene: &Scene<'_>, contents: Contents) -> Result<Vec<Plane>> {
        let arena = Arena::new(self.gpu);
        let resources = Resources::new(&arena, scene.main, contents)?;
        let mut changed = scene.clone();
        if let (Contents::Other, Work::Draw(draw)) = (contents, &mut changed.work) {
            for attribute in draw.attributes.iter_mut().filter(|a| a.location > 0) {
                attribute.data.rotate_left(attribute.stride as usize);
            }
        }
        let form = reference::form(&arena, &self.corpus, &changed, &resources)?;
        let before = resources.read_back(&arena)?;
        let mut planes = form.run(&arena)?;
        let mut after = resources.read_back(&arena)?;
        for (after, before) in after.iter_mut().zip(&before) {
            after.untouched = after.words == before.words;
        }
        planes.extend(after);
        Ok(planes)
    }

    fn guest(&self, scene: &Scene<'_>) -> Result<Vec<Plane>, Refusal> {
        let arena = Arena::new(self.gpu);
        let resources = Resources::new(&arena, scene.main, Contents::Standard)?;
        let form = guest::form(&self.tables, &arena, &self.corpus, scene, &resources)?;
        let mut planes = form.run(&arena)?;
        planes.extend(resources.read_back(&arena)?);
        Ok(planes)
    }

    /// Why the device cannot run the program or its forms cannot be compared.
    fn lacking(&self, program: &Program) -> Option<String> {
        let (core, f12) = (&self.gpu.features, &self.gpu.features12);
        for capability in &program.capabilities {
            let has = match capability.as_str() {
                "Float64" => core.shader_float64,
                "Int64" => core.shader_int64,
                "Geometry" | "GeometryPointSize" => core.geometry_shader,
                "Tessellation" | "TessellationPointSize" => core.tessellation_shader,
                "MultiViewport" => core.multi_viewport,
                "StorageImageMultisample" => core.shader_storage_image_multisample,
                "StorageImageExtendedFormats" => core.shader_storage_image_extended_formats,
                "StorageImageWriteWithoutFormat" => core.shader_storage_image_write_without_format,
                "SampledCubeArray" | "ImageCubeArray" => core.image_cube_array,
                "ImageGatherExtended" => core.shader_image_gather_extended,
                "SampleRateShading" | "InterpolationFunction" => core.sample_rate_shading,
                "ClipDistance" => core.shader_clip_distance,
                "CullDistance" => core.shader_cull_distance,
                "ShaderViewportIndexLayerEXT" => f12.shader_output_layer,
                _ => vk::TRUE,
            };
            if has == vk::FALSE {
                return Some(format!("the device lacks {capability}"));
            }
        }
        if program.notes.contains("subgroup size of 32") && self.gpu.subgroup_size != 32 {
            return Some(format!("the reference needs subgroups of 32, the device has {}", self.gpu.subgroup_size));
        }
        if program.name == "img_multisample" {
            return Some("the guest form sees the samples as pixels of a larger image".into());
        }
        if program.name == "tex_sampler_array_dynamic" {
            return Some("its compiler puts the same handle at two places (status caution)".into());
        }
        for input in &program.inputs {
            if input.ty.starts_with("dvec") && !self.gpu.vertex_format(vk::Format::R64G64_SFLOAT) {
                return Some("the device lacks vertex attributes of 64 bits".into());
            }
        }
        for image in &program.images {
            let texel = image.format.as_deref().and_then(Texel::named);
            let stored = vk::FormatFeatureFlags::STORAGE_IMAGE;
            if let Some(texel) = texel.filter(|t| !self.gpu.image_format(t.format, stored)) {
                return Some(format!("the device has no storage images of {:?}", texel.format));
            }
        }
        None
    }
}

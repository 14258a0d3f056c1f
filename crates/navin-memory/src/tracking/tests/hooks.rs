//! Hooks at the points of the protocol: what a test does there happens exactly there.

use std::sync::{Arc, Mutex, PoisonError};

use crate::tracking::protocol::Point;

type Action = Arc<dyn Fn(Point) + Send + Sync>;

/// A tracker's hook. The action runs without the hook's lock, so that it may call the tracker.
#[derive(Default)]
pub struct Hook(Mutex<Option<Action>>);

impl Hook {
    /// Sets what happens at the points.
    pub fn set(&self, action: impl Fn(Point) + Send + Sync + 'static) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(action));
    }

    /// Nothing happens any more.
    pub fn clear(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    pub fn at(&self, point: Point) {
        let action = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(action) = action {
            action(point);
        }
    }
}

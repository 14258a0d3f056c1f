//! Progress of a run on standard error: a bar with frames a second on a terminal, a line now and then elsewhere.

use std::collections::VecDeque;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// The rate is taken over the frames of this long.
const WINDOW: Duration = Duration::from_secs(1);
/// Where there is no terminal, a line this often.
const LINE_EVERY: Duration = Duration::from_secs(5);

/// Shows frames as they come.
pub struct Progress {
    name: String,
    limit: Option<u64>,
    shown: Shown,
    recent: VecDeque<(Instant, f64)>,
    frames: u64,
}

enum Shown {
    Bar(ProgressBar),
    Lines(Instant),
    Nothing,
}

impl Progress {
    /// Progress of the guest `name`, towards `limit` frames if it has one.
    pub fn new(name: &str, limit: Option<u64>, quiet: bool) -> Self {
        let shown = if quiet {
            Shown::Nothing
        } else if std::io::stderr().is_terminal() {
            let (bar, template) = match limit {
                Some(limit) => (ProgressBar::new(limit), "{prefix} [{bar:32}] {pos}/{len} frames  {msg}"),
                None => (ProgressBar::new_spinner(), "{prefix} {spinner} {pos} frames  {msg}"),
            };
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style.progress_chars("=> "));
            }
            bar.set_prefix(name.to_owned());
            bar.set_message("starting");
            bar.enable_steady_tick(Duration::from_millis(200));
            Shown::Bar(bar)
        } else {
            Shown::Lines(Instant::now())
        };
        Self { name: name.to_owned(), limit, shown, recent: VecDeque::new(), frames: 0 }
    }

    /// Whether there is a bar that lines of the guest must not run into.
    pub fn is_bar(&self) -> bool {
        matches!(self.shown, Shown::Bar(_))
    }

    /// Counts a presented frame.
    pub fn frame(&mut self, index: u64, cpu_ms: f64) {
        let now = Instant::now();
        self.frames = self.frames.max(index.saturating_add(1));
        self.recent.push_back((now, cpu_ms));
        while self.recent.front().is_some_and(|(at, _)| now - *at > WINDOW) && self.recent.len() > 2 {
            self.recent.pop_front();
        }
        let rate = self.rate();
        match &mut self.shown {
            Shown::Bar(bar) => {
                bar.set_position(self.frames);
                bar.set_message(rate);
            }
            Shown::Lines(last) if last.elapsed() >= LINE_EVERY => {
                *last = now;
                let of = self.limit.map_or_else(String::new, |limit| format!(" of {limit}"));
                eprintln!("navin: {}: {}{of} frames, {rate}", self.name, self.frames);
            }
            Shown::Lines(_) | Shown::Nothing => {}
        }
    }

    /// Says something that is not progress.
    pub fn say(&self, text: &str) {
        self.print(|| eprintln!("navin: {}: {text}", self.name));
    }

    /// Runs `print`, which writes whole lines, with the bar out of the way.
    pub fn print(&self, print: impl FnOnce()) {
        match &self.shown {
            Shown::Bar(bar) => bar.suspend(print),
            Shown::Lines(_) | Shown::Nothing => print(),
        }
    }

    /// Takes the bar away.
    pub fn clear(&mut self) {
        if let Shown::Bar(bar) = &self.shown {
            bar.finish_and_clear();
        }
        self.shown = Shown::Nothing;
    }

    fn rate(&self) -> String {
        let (Some((first, _)), Some((last, _))) = (self.recent.front(), self.recent.back()) else {
            return String::new();
        };
        let seconds = (*last - *first).as_secs_f64();
        if seconds <= 0.0 {
            return "first frame".into();
        }
        let frames = self.recent.len() as f64 - 1.0;
        let cpu: f64 = self.recent.iter().skip(1).map(|(_, cpu)| cpu).sum();
        format!("{:.1} fps, {:.1} ms CPU a frame", frames / seconds, cpu / frames)
    }
}

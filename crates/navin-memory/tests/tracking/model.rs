//! Random actions against a naive model: a list of what was written when.

use navin_memory::tracking::{Span, Stamp, Tracker, Writer};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::support::{Memory, Setup};

const PAGES: usize = 24;

#[derive(Clone, Debug)]
enum Action {
    Register(usize, usize),
    Retire(usize),
    Protect(usize, usize),
    Write(usize),
    HostWrite(usize, usize),
    Bracket(usize, usize, Option<usize>),
    Fetch,
    FetchSpan(usize, usize),
}

fn actions() -> impl Strategy<Value = Vec<Action>> {
    let run = || (0..PAGES, 1usize..10);
    let action = prop_oneof![
        2 => run().prop_map(|(a, n)| Action::Register(a, n)),
        1 => (0usize..8).prop_map(Action::Retire),
        4 => run().prop_map(|(a, n)| Action::Protect(a, n)),
        6 => (0..PAGES).prop_map(Action::Write),
        1 => run().prop_map(|(a, n)| Action::HostWrite(a, n)),
        1 => (0..PAGES, 1usize..10, prop::option::of(0..PAGES)).prop_map(|(a, n, w)| Action::Bracket(a, n, w)),
        1 => Just(Action::Fetch),
        1 => run().prop_map(|(a, n)| Action::FetchSpan(a, n)),
    ];
    prop::collection::vec(action, 1..80)
}

/// What the model knows of a page.
#[derive(Clone, Copy, Default)]
struct Page {
    ranges: u32,
    /// The step at which it was last protected without being written since, if it was.
    clean_from: Option<usize>,
    /// The step of its last write.
    written: usize,
}

pub fn against_a_naive_model(setup: &Setup) {
    let mut runner = TestRunner::new(Config { cases: 60, failure_persistence: None, ..Config::default() });
    runner.run(&actions(), |actions| check(setup, &actions)).unwrap();
}

fn check(setup: &Setup, actions: &[Action]) -> Result<(), TestCaseError> {
    let (tracker, g) = (setup.tracker(), setup.granule);
    let memory = Memory::new(PAGES * g);
    let clip = |a: usize, n: usize| a..(a + n).min(PAGES);
    let span = |run: &std::ops::Range<usize>| Span::new(memory.start + run.start * g, run.len() * g);
    let mut pages = [Page::default(); PAGES];
    let mut ranges: Vec<std::ops::Range<usize>> = Vec::new();
    let mut stamps: Vec<(usize, std::ops::Range<usize>, Stamp)> = Vec::new();
    for (step, action) in actions.iter().enumerate() {
        let step = step + 1;
        match action {
            Action::Register(a, n) => {
                let run = clip(*a, *n);
                if ranges.iter().any(|r| r.start == run.start) {
                    continue;
                }
                tracker.register(span(&run).start, span(&run).len).unwrap();
                run.clone().for_each(|page| pages[page].ranges += 1);
                ranges.push(run);
            }
            Action::Retire(index) if !ranges.is_empty() => {
                let run = ranges.swap_remove(index % ranges.len());
                prop_assert!(tracker.retire(span(&run).start));
                for page in run {
                    pages[page].ranges -= 1;
                    if pages[page].ranges == 0 {
                        pages[page].clean_from = None;
                    }
                }
            }
            Action::Retire(_) => {}
            Action::Protect(a, n) => {
                let run = clip(*a, *n);
                let stamp = tracker.protect(span(&run));
                for page in &mut pages[run.clone()] {
                    if page.ranges > 0 && page.clean_from.is_none() {
                        page.clean_from = Some(step);
                    }
                }
                stamps.push((step, run, stamp));
            }
            Action::Write(page) => {
                memory.write(page * g + step % g, step as u8);
                pages[*page].clean_from = None;
                pages[*page].written = step;
            }
            Action::HostWrite(a, n) => {
                let run = clip(*a, *n);
                tracker.host_write(span(&run), Writer(1));
                for page in run {
                    pages[page].clean_from = None;
                    pages[page].written = step;
                }
            }
            Action::Bracket(a, n, write) => {
                let opened = tracker.open(&[span(&clip(*a, *n))]);
                if let Some(page) = write {
                    let at = page * g + step % g;
                    memory.write(at, memory.read(at) ^ 1);
                    pages[*page].clean_from = None;
                    pages[*page].written = step;
                }
                opened.close();
            }
            Action::Fetch => drop(tracker.fetch()),
            Action::FetchSpan(a, n) => tracker.fetch_span(span(&clip(*a, *n))),
        }
        ask(&tracker, &pages, &stamps, span)?;
    }
    Ok(())
}

/// Every stamp, over its run: written where the model says so, clean where the page was protected then and not written
/// since.
fn ask(
    tracker: &Tracker,
    pages: &[Page; PAGES],
    stamps: &[(usize, std::ops::Range<usize>, Stamp)],
    span: impl Fn(&std::ops::Range<usize>) -> Span,
) -> Result<(), TestCaseError> {
    tracker.fetch();
    for (step, run, stamp) in stamps {
        let mut any = false;
        for page in run.clone() {
            let clean = pages[page].ranges > 0 && pages[page].clean_from.is_some_and(|from| from <= *step);
            any |= !clean;
            let says = tracker.written_since(span(&(page..page + 1)), *stamp);
            prop_assert_eq!(says, !clean, "page {} since step {}", page, step);
        }
        prop_assert_eq!(tracker.written_since(span(run), *stamp), any);
        let mut parts = Vec::new();
        tracker.written_spans(span(run), *stamp, &mut parts);
        prop_assert_eq!(parts.is_empty(), !any);
    }
    Ok(())
}

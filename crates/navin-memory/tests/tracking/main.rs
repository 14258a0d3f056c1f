//! The write tracker, from outside: every rule under both mechanisms and under two granules.
//!
//! A test takes a [`Setup`]; `suite!` makes one test of it for each setup. Where the system lacks a mechanism its tests
//! say so and pass.

#![cfg(target_os = "linux")]

mod bracket;
mod model;
mod processes;
mod ranges;
mod support;
mod writes;

use navin_memory::tracking::MechanismChoice;
use support::Setup;

macro_rules! suite {
    ($($module:ident :: $name:ident),* $(,)?) => {
        suite!(@setup userfaultfd_host_page, MechanismChoice::Userfaultfd, 0, $($module::$name),*);
        suite!(@setup userfaultfd_16k, MechanismChoice::Userfaultfd, 16 << 10, $($module::$name),*);
        suite!(@setup mprotect_host_page, MechanismChoice::Mprotect, 0, $($module::$name),*);
        suite!(@setup mprotect_16k, MechanismChoice::Mprotect, 16 << 10, $($module::$name),*);
    };
    (@setup $setup:ident, $mechanism:expr, $granule:expr, $($module:ident :: $name:ident),*) => {
        mod $setup {
            use super::*;
            $(
                #[test]
                fn $name() {
                    if let Some(setup) = Setup::new($mechanism, $granule) {
                        super::$module::$name(&setup);
                    }
                }
            )*
        }
    };
}

suite!(
    writes::a_write_is_seen_once_and_only_where_it_was,
    writes::nothing_protected_counts_as_written,
    writes::b412_a_write_between_stamp_and_read_is_one_since_the_stamp,
    writes::b412_a_watch_remembers_clean_answers_only,
    writes::host_writes_are_recorded_and_system_calls_get_through,
    writes::one_writer_can_be_left_out,
    writes::system_calls_into_protected_memory,
    writes::shared_file_and_second_mappings,
    writes::what_nobody_asks_about_is_still_noticed,
    writes::a_large_fetch_finds_what_was_written_everywhere,
    writes::odd_spans_are_answered,
    ranges::b205_the_table_grows_by_blocks,
    ranges::b206_stamps_older_than_the_registration_are_written,
    ranges::b206_a_handle_answers_written_for_stamps_from_before_its_range,
    ranges::b407_neighbours_share_a_granule,
    ranges::b407_ranges_are_removed_by_their_exact_start,
    ranges::several_trackers_coexist,
    ranges::memory_of_another_userfaultfd_falls_back,
    ranges::retired_memory_is_writable,
    bracket::b123_an_untouched_page_is_protected_again_and_not_recorded,
    bracket::b123_a_store_to_an_open_page_is_recorded_and_protected,
    bracket::b123_a_host_write_to_an_open_page_stays_writable,
    bracket::b123_nobody_protects_or_retires_while_open,
    bracket::b665_written_pages_are_exactly_those_the_gpu_wrote,
    bracket::questions_wait_for_an_open_bracket,
    model::against_a_naive_model,
);

//! Readings of the machine that an executor runs on, for its heartbeats.
//!
//! They are of the whole machine, not of the process. What cannot be read is left out, which the node takes as unknown.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use campanile_proto::v1;
use sysinfo::{MemoryRefreshKind, System};

/// Reads processors, memory and disks; each reading is of the time since the one before, so the first has no use of
/// processors and no queue of disks.
#[derive(Debug)]
pub struct MachineReader(Mutex<State>);

#[derive(Debug)]
struct State {
    system: System,
    /// When it last read, and what the disks' weighted time was then, in milliseconds.
    before: Option<(Instant, Option<u64>)>,
}

impl MachineReader {
    /// None where this system has no such readings.
    pub fn new() -> Option<MachineReader> {
        let system = System::new().ok()?;
        Some(MachineReader(Mutex::new(State { system, before: None })))
    }

    pub fn read(&self) -> v1::Machine {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        state.system.refresh_cpu_usage();
        state.system.refresh_memory_specifics(MemoryRefreshKind::nothing().with_ram());
        let weighted = weighted_disk_ms();
        let before = state.before.replace((now, weighted));
        let disk_queue = before.and_then(|(then, before)| {
            let passed = now.duration_since(then).as_secs_f64() * 1000.0;
            (passed > 0.0).then_some(weighted?.saturating_sub(before?) as f64 / passed)
        });
        let total = state.system.total_memory();
        let available = state.system.available_memory();
        v1::Machine {
            cpu_percent: before.map(|_| f64::from(state.system.global_cpu_usage())),
            memory_percent: (total > 0).then(|| (1.0 - available as f64 / total as f64) * 100.0),
            disk_queue,
            cores: u32::try_from(state.system.cpus().len()).ok().filter(|cores| *cores > 0),
        }
    }
}

/// Of all disks: the time that requests have spent there, each counted for itself. Its growth over a span is how many
/// were there on average.
fn weighted_disk_ms() -> Option<u64> {
    weighted_of(&std::fs::read_to_string("/proc/diskstats").ok()?)
}

fn weighted_of(diskstats: &str) -> Option<u64> {
    let mut found = None;
    for line in diskstats.lines() {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let (Some(name), Some(weighted)) = (fields.get(2), fields.get(13)) else { continue };
        if is_a_whole_disk(name)
            && let Ok(weighted) = weighted.parse::<u64>()
        {
            *found.get_or_insert(0) += weighted;
        }
    }
    found
}

/// Partitions and what is built on top of disks would count the same request again.
fn is_a_whole_disk(name: &str) -> bool {
    let layered = ["loop", "ram", "dm-", "md", "zram", "sr", "fd"].iter().any(|kind| name.starts_with(kind));
    let ends_in_digit = name.ends_with(|last: char| last.is_ascii_digit());
    let numbered = ["nvme", "mmcblk"].iter().any(|kind| name.starts_with(kind));
    let partition = match numbered {
        true => name.rsplit('p').next().is_some_and(|rest| rest.len() < name.len() && rest.parse::<u32>().is_ok()),
        false => ends_in_digit,
    };
    !layered && !partition
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_disks_count() {
        let stats = "\
   8       0 sda 1 0 8 5 1 0 8 5 0 10 120 0 0 0 0 0 0
   8       1 sda1 1 0 8 5 1 0 8 5 0 10 110 0 0 0 0 0 0
 259       0 nvme0n1 1 0 8 5 1 0 8 5 0 10 30 0 0 0 0 0 0
 259       1 nvme0n1p1 1 0 8 5 1 0 8 5 0 10 30 0 0 0 0 0 0
   7       0 loop0 1 0 8 5 1 0 8 5 0 10 999 0 0 0 0 0 0
 252       0 dm-0 1 0 8 5 1 0 8 5 0 10 999 0 0 0 0 0 0
 254       0 vda 1 0 8 5 1 0 8 5 0 10 7 0 0 0 0 0 0
";
        assert_eq!(weighted_of(stats), Some(157));
        assert_eq!(weighted_of("8 0\n"), None);
    }

    #[test]
    fn a_reading_is_of_this_machine_and_in_range() {
        let reader = MachineReader::new().expect("this system is read");
        let first = reader.read();
        assert_eq!(first.cpu_percent, None, "there is nothing to compare with yet");
        let second = reader.read();
        for percent in [second.cpu_percent, second.memory_percent] {
            let percent = percent.expect("it can be read where the tests run");
            assert!((0.0..=100.5).contains(&percent), "{percent}");
        }
        assert!(second.cores.is_some_and(|cores| cores > 0));
    }
}

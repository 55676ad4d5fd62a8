//! Whether the machine of an executor leaves room for more work. Pure.
//!
//! One high reading means nothing: three in a row do, and one that is back in bounds ends it.

use std::collections::VecDeque;

use campanile_model::Lane;

use crate::link::Machine;

/// So many readings in a row have to be over.
const IN_A_ROW: usize = 3;

/// What a machine may be at before work waits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thresholds {
    pub cpu_percent: f64,
    pub memory_percent: f64,
    /// Requests that wait at its disks.
    pub disk_queue: f64,
}

impl Thresholds {
    pub const SERVER: Thresholds = Thresholds { cpu_percent: 80.0, memory_percent: 75.0, disk_queue: 100.0 };

    /// Somebody sits before it and uses it for other things too.
    pub const DESKTOP: Thresholds = Thresholds { cpu_percent: 95.0, memory_percent: 92.0, disk_queue: 100.0 };
}

impl Default for Thresholds {
    fn default() -> Self {
        Thresholds::SERVER
    }
}

/// Of what a machine has too little.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Resource {
    Cpu,
    Memory,
    Disk,
}

/// What keeps work from a machine just now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Strain {
    pub cpu: bool,
    pub memory: bool,
    pub disk: bool,
}

impl Strain {
    /// Why a task of this lane, and of this kind, has to wait; none: it may go.
    pub fn holds(&self, lane: Lane, io: bool) -> Option<Resource> {
        if self.memory && lane > Lane::High {
            Some(Resource::Memory)
        } else if self.cpu && lane == Lane::Low {
            Some(Resource::Cpu)
        } else if self.disk && io {
            Some(Resource::Disk)
        } else {
            None
        }
    }

    /// The lowest lane of which something may go.
    pub fn down_to(&self) -> Lane {
        match self {
            Strain { memory: true, .. } => Lane::High,
            Strain { cpu: true, .. } => Lane::Normal,
            _ => Lane::Low,
        }
    }
}

/// The last readings of one machine.
#[derive(Clone, Debug, Default)]
pub struct Readings(VecDeque<Machine>);

impl Readings {
    pub fn take(&mut self, machine: Machine) {
        self.0.push_back(machine);
        if self.0.len() > IN_A_ROW {
            self.0.pop_front();
        }
    }

    pub fn strain(&self, thresholds: Thresholds) -> Strain {
        let over = |value: fn(&Machine) -> Option<f64>, most: f64| {
            self.0.len() == IN_A_ROW
                && self.0.iter().all(|machine| value(machine).is_some_and(|reading| reading > most))
        };
        Strain {
            cpu: over(|machine| machine.cpu_percent, thresholds.cpu_percent),
            memory: over(|machine| machine.memory_percent, thresholds.memory_percent),
            disk: over(|machine| machine.disk_queue, thresholds.disk_queue),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strain_after(readings: &[(f64, f64, f64)], thresholds: Thresholds) -> Strain {
        let mut taken = Readings::default();
        for (cpu, memory, disk) in readings {
            taken.take(Machine {
                cpu_percent: Some(*cpu),
                memory_percent: Some(*memory),
                disk_queue: Some(*disk),
                cores: None,
            });
        }
        taken.strain(thresholds)
    }

    #[test]
    fn work_waits_after_three_readings_in_a_row_and_until_one_is_back() {
        let (high, low) = ((85.0, 80.0, 101.0), (80.0, 75.0, 100.0));
        let none = Strain::default();
        let all = Strain { cpu: true, memory: true, disk: true };
        /// Samples of CPU, memory and disk queue.
        type Row<'a> = (&'a [(f64, f64, f64)], Strain);
        let table: &[Row<'_>] = &[
            (&[], none),
            (&[high, high], none),
            (&[high, high, high], all),
            (&[high, low, high, high], none),
            (&[low, high, high, high, high], all),
            (&[high, high, high, low], none),
            (&[high, high, high, (85.0, 10.0, 10.0)], Strain { cpu: true, ..none }),
        ];
        for (readings, expected) in table {
            assert_eq!(strain_after(readings, Thresholds::SERVER), *expected, "{readings:?}");
        }
        assert_eq!(strain_after(&[high; 3], Thresholds::DESKTOP), Strain { disk: true, ..none });
        assert!(strain_after(&[(96.0, 93.0, 0.0); 3], Thresholds::DESKTOP).memory);
    }

    #[test]
    fn a_reading_that_is_not_known_holds_nothing() {
        let mut readings = Readings::default();
        for _ in 0..3 {
            readings.take(Machine::default());
        }
        assert_eq!(readings.strain(Thresholds::SERVER), Strain::default());
    }

    #[test]
    fn cpu_holds_low_memory_all_below_high_and_disk_what_works_the_disk() {
        let strain = |cpu, memory, disk| Strain { cpu, memory, disk };
        let table = [
            (strain(true, false, false), Lane::Low, false, Some(Resource::Cpu)),
            (strain(true, false, false), Lane::Normal, false, None),
            (strain(false, true, false), Lane::Retry, false, Some(Resource::Memory)),
            (strain(false, true, false), Lane::High, false, None),
            (strain(true, true, true), Lane::Immediate, false, None),
            (strain(false, false, true), Lane::Immediate, true, Some(Resource::Disk)),
            (strain(false, false, true), Lane::Low, false, None),
        ];
        for (strain, lane, io, expected) in table {
            assert_eq!(strain.holds(lane, io), expected, "{strain:?} {lane:?} {io}");
            assert!(io || expected.is_some() == (lane > strain.down_to()), "{strain:?} {lane:?}");
        }
    }
}

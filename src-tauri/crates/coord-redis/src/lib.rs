//! The meeting place in Redis: the shared answer to the `coord` contract.
//!
//! Redis holds what may be lost. Nothing here is believed without a limit in time, and every key has an expiry, so that
//! what nobody cares for goes by itself. [`keyspace`] reads every key and says which of them is a bad tenant.

mod coord;
pub mod keyspace;
mod lanes;
mod locks;
mod note;
mod place;
mod traffic;

pub use coord::RedisCoord;
pub use lanes::RedisLanes;
pub use locks::RedisLocks;
pub use place::{Place, PlaceError, Redis};
pub use traffic::RedisTraffic;

/// Every key begins with it; the number is the layout's, and changes with it.
pub(crate) const PREFIX: &str = "campanile:1:";

macro_rules! scripts {
    ($($name:ident = $($file:literal)+;)*) => {
        $(static $name: std::sync::LazyLock<redis::Script> =
            std::sync::LazyLock::new(|| redis::Script::new(concat!($(include_str!(concat!("scripts/", $file)),)+)));)*
    };
}
pub(crate) use scripts;

/// As the text of a hash tag: without braces, which would end it, or what a pattern would read as its own.
pub(crate) fn encoded(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for character in name.chars() {
        match character {
            '%' | '{' | '}' | '*' | '?' | '[' | ']' | '\\' => text.push_str(&format!("%{:02x}", u32::from(character))),
            _ => text.push(character),
        }
    }
    text
}

/// Redis counts in whole milliseconds; nothing lives for none.
pub(crate) fn ms(span: std::time::Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX).clamp(1, 1 << 50)
}

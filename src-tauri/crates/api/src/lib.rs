//! Everything a person may ask, for the window, the browser and the command line alike.

pub mod operations;
mod typescript;
pub mod views;

pub use typescript::types;

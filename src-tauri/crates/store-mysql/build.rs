//! The migrations are embedded; without this line a new one would not be noticed until something else changes.

fn main() {
    println!("cargo:rerun-if-changed=migrations");
}

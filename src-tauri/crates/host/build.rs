//! Sees to it that there is a folder of the console's pages to embed, so that everything else builds without the console.

use std::path::Path;

fn main() -> std::io::Result<()> {
    let pages = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../ui/dist");
    std::fs::create_dir_all(&pages)?;
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed={}", pages.display());
    Ok(())
}

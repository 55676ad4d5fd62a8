//! Turns `executor.proto` into Rust, with a compiler that is Rust itself: nobody
//! who builds the project has to have `protoc`.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = "proto/campanile/executor/v1/executor.proto";
    println!("cargo::rerun-if-changed={file}");
    let descriptors = protox::compile([file], ["proto"])?;
    // The client's own `connect(address)` would take the name of the one call there is; who
    // connects makes the channel and hands it in.
    tonic_prost_build::configure().build_transport(false).compile_fds(descriptors)?;
    Ok(())
}

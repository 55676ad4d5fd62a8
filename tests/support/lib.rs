//! What tests that need more than one crate stand on.

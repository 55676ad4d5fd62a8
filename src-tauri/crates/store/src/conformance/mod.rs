//! The promises of the contract, as tests that every backend runs.

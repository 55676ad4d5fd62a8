//! The real program, as a process on a data folder.

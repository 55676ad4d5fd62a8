//! Between rows and the nouns of the model.

pub(crate) use campanile_store_sql::*;

//! What stands in a row that is to be written, before a backend gives it the form that its server takes.

use campanile_model::Timestamp;

use crate::columns::{Id, number};

#[derive(Clone, Debug)]
pub enum Cell {
    Null,
    Number(i64),
    Bytes(Vec<u8>),
    Text(String),
}

pub trait IntoCell {
    fn cell(self) -> Cell;
}

macro_rules! into_cell {
    ($($type:ty: |$this:ident| $cell:expr;)*) => {$(
        impl IntoCell for $type {
            fn cell(self) -> Cell {
                let $this = self;
                $cell
            }
        }
    )*};
}

into_cell! {
    i64: |n| Cell::Number(n);
    u8: |n| Cell::Number(i64::from(n));
    u16: |n| Cell::Number(i64::from(n));
    u32: |n| Cell::Number(i64::from(n));
    u64: |n| Cell::Number(number(n));
    bool: |flag| Cell::Number(i64::from(flag));
    &str: |text| Cell::Text(text.to_owned());
    String: |text| Cell::Text(text);
    &String: |text| Cell::Text(text.clone());
    Timestamp: |at| Cell::Number(at.millis());
    Cell: |value| value;
}

impl<T: IntoCell> IntoCell for Option<T> {
    fn cell(self) -> Cell {
        self.map_or(Cell::Null, IntoCell::cell)
    }
}

pub fn id<I: Id>(id: I) -> Cell {
    Cell::Bytes(id.blob())
}

/// `row![a, b, c]`: what stands beside each other in a row.
#[macro_export]
macro_rules! row {
    ($($cell:expr),* $(,)?) => {
        vec![$($crate::IntoCell::cell($cell)),*]
    };
}

pub type Row = Vec<Cell>;

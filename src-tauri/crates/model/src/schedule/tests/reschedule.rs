//! What dragging an occurrence comes to.

//! A window with nothing in it: what the start of the app is measured against. It has a page of one word and no engine.

use tauri::http::{HeaderValue, Response};
use tauri::{WebviewUrl, WebviewWindowBuilder};

const PAGE: &[u8] = b"<!doctype html><title>Empty</title><h1>Empty</h1>";

fn main() -> anyhow::Result<()> {
    tauri::Builder::default()
        .register_uri_scheme_protocol("empty", |_, _| {
            let mut page = Response::new(PAGE.to_vec());
            page.headers_mut().insert("content-type", HeaderValue::from_static("text/html; charset=utf-8"));
            page
        })
        .setup(|app| {
            let url = WebviewUrl::CustomProtocol("empty://localhost/".parse()?);
            WebviewWindowBuilder::new(app, "main", url).title("Empty").inner_size(1280.0, 800.0).build()?;
            Ok(())
        })
        .run(tauri::generate_context!())?;
    Ok(())
}

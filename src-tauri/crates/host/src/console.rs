//! The console's pages, carried by the program.

use axum::body::Body;
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use rust_embed::RustEmbed;

#[derive(RustEmbed)]
#[folder = "../../../ui/dist"]
struct Pages;

/// A program that was built without the console has no page to show, and says so.
const WITHOUT_CONSOLE: &str = "<!doctype html><meta charset=\"utf-8\"><title>Campanile</title>\
    <p>This program was built without the console: build <code>ui</code> first, then the program again.</p>\
    <p lang=\"zh\">此程序构建时未包含控制台：请先构建 <code>ui</code>，再重新构建程序。</p>";

pub async fn page(uri: Uri) -> Response {
    let path = uri.path().trim_start_matches('/');
    // The pages route within the part of the address that no server sees.
    let path = if path.is_empty() { "index.html" } else { path };
    match Pages::get(path) {
        Some(file) => {
            let lasting = if path.starts_with("assets/") { "public, max-age=31536000, immutable" } else { "no-cache" };
            let headers = [(header::CONTENT_TYPE, content_type(path)), (header::CACHE_CONTROL, lasting)];
            (headers, Body::from(file.data.into_owned())).into_response()
        }
        None if path == "index.html" => {
            let headers = [(header::CONTENT_TYPE, "text/html; charset=utf-8")];
            (StatusCode::SERVICE_UNAVAILABLE, headers, WITHOUT_CONSOLE).into_response()
        }
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

fn content_type(path: &str) -> &'static str {
    match path.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" | "map" => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "woff" => "font/woff",
        "wasm" => "application/wasm",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

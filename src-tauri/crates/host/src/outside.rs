//! `/v1`: what programs may ask over HTTP, with a token of their own.
//!
//! ```text
//! POST /v1/jobs/{name}/runs   run a job; 202 with the run. The body: parameters, or a file with the items of a run
//! GET  /v1/runs/{id}          how it goes
//! GET  /v1/openapi.json       all of this, for machines
//! ```
//!
//! The console's token opens nothing here, and these tokens nothing there.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{ConnectInfo, Path, Query, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router, body};
use campanile_api::outside::{FileWanted, Outsider, RunState, RunWanted};
use campanile_model::token::Shown;
use campanile_model::{Code, Fault, Words};

use crate::http::refusal;
use crate::{Host, uploads};

/// Of one request.
const LARGEST_BODY: usize = 256 * 1024;

const IDEMPOTENCY_KEY: &str = "idempotency-key";

const OPENAPI: &str = include_str!("openapi.json");

pub(crate) fn routes<S: Clone + Send + Sync + 'static>(host: Arc<Host>) -> Router<S> {
    Router::new()
        .route("/v1/jobs/{name}/runs", post(run))
        .route("/v1/runs/{id}", get(state))
        .route("/v1/openapi.json", get(openapi))
        .with_state(host)
}

async fn openapi() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], OPENAPI).into_response()
}

async fn run(
    State(host): State<Arc<Host>>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    Path(name): Path<String>,
    headers: HeaderMap,
    request: Request,
) -> Response {
    let answer = async {
        let who = outsider(&host, peer.ip(), &headers).await?;
        let key = headers.get(IDEMPOTENCY_KEY).map(|key| key.to_str().unwrap_or_default());
        let Some(ending) = file_of(&headers) else {
            let wanted = read(request).await?;
            return host.api().run_from_outside(&who, &name, key, wanted).await;
        };
        let wanted = read_query(request.uri())?;
        // Nothing is taken in of those who may not run it.
        host.api().job_from_outside(&who, &name).await?;
        let given = uploads::receive(&host, &format!("{name}.{ending}"), request.into_body()).await?;
        host.api().run_with_file_from_outside(&who, &name, key, &given, wanted).await
    };
    match answer.await {
        Ok(state) => {
            let location = HeaderValue::from_str(&format!("/v1/runs/{}", state.run));
            let mut response = shown(StatusCode::ACCEPTED, &state);
            if let Ok(location) = location {
                response.headers_mut().insert(header::LOCATION, location);
            }
            response
        }
        Err(fault) => refusal(&fault),
    }
}

async fn state(
    State(host): State<Arc<Host>>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Response {
    let answer = async {
        let who = outsider(&host, peer.ip(), &headers).await?;
        host.api().run_seen_from_outside(&who, &id).await
    };
    match answer.await {
        Ok(state) => shown(StatusCode::OK, &state),
        Err(fault) => refusal(&fault),
    }
}

fn shown(status: StatusCode, state: &RunState) -> Response {
    (status, [(header::CACHE_CONTROL, "no-store")], Json(state)).into_response()
}

async fn outsider(host: &Host, from: IpAddr, headers: &HeaderMap) -> Result<Outsider, Fault> {
    let tokens = host.tokens();
    if tokens.tries.are_too_many(from) {
        return Err(Code::TooManyTries.fault().with("address", from));
    }
    let shown = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
    let shown = shown.unwrap_or_default();
    match (Shown::read(shown), tokens.known(shown).await?) {
        (Some(parts), Some(token)) => Ok(Outsider { token: parts.id.to_owned(), scope: token.scope }),
        _ => {
            tokens.tries.one_more(from);
            Err(Code::TokenWrong.fault())
        }
    }
}

/// What a body is that holds the items of a run; none: it is parameters.
fn file_of(headers: &HeaderMap) -> Option<&'static str> {
    let kind = headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
    match kind.split(';').next().unwrap_or_default().trim() {
        "text/csv" | "text/tab-separated-values" => Some("csv"),
        "application/x-ndjson" | "application/jsonl" => Some("jsonl"),
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet" => Some("xlsx"),
        _ => None,
    }
}

fn read_query(uri: &Uri) -> Result<FileWanted, Fault> {
    let wanted: Result<Query<FileWanted>, _> = Query::try_from_uri(uri);
    wanted.map(|Query(wanted)| wanted).map_err(|error| Code::BadRequest.fault().with("reason", error))
}

async fn read(request: Request) -> Result<RunWanted, Fault> {
    let bad = |en: String, zh: String| Code::BadRequest.fault().with_words("reason", &Words::new(en, zh));
    let bytes = body::to_bytes(request.into_body(), LARGEST_BODY).await.map_err(|_| {
        let most = LARGEST_BODY / 1024;
        bad(format!("it is larger than {most} KB"), format!("请求超过 {most} KB"))
    })?;
    if bytes.is_empty() {
        return Ok(RunWanted::default());
    }
    serde_json::from_slice(&bytes)
        .map_err(|error| bad(format!("the body is not right: {error}"), format!("请求内容不正确：{error}")))
}

//! The API and the console over HTTP: for a browser on this machine or, where the node listens on another address, for
//! other machines, and then by TLS alone.
//!
//! Whoever asks has to show the folder's token or a pass, and to have come by a name of this node: a page of some other site
//! that has its name point here is turned away.

mod entrance;
mod names;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use axum::extract::ws::{Message, WebSocket};
use axum::extract::{DefaultBodyLimit, Path, Query, Request, State, WebSocketUpgrade};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Json, Router, body};
use campanile_api::{CallContext, Lang};
use campanile_model::node::NodeApi;
use campanile_model::pass::Pass;
use campanile_model::request::Person;
use campanile_model::{Code, Fault, Words};
use futures::stream::{self, StreamExt as _};
use serde::Deserialize;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use self::entrance::Tls;
use self::names::Names;
use crate::config::Config;
use crate::downloads::{Downloads, Wanted, file_name};
use crate::executors::{TlsFiles, cannot_listen, no_tls};
use crate::logs::neighbours::{Asked, PATH as LOG_PARTS};
use crate::{Host, certs, console, machine, outside, uploads};

/// Of one request.
const LARGEST_BODY: usize = 8 * 1024 * 1024;

struct Door {
    host: Arc<Host>,
    token: String,
    names: Names,
    shutdown: CancellationToken,
    downloads: Downloads,
}

/// A listening server; nothing is answered until it runs.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    /// host:port by which others reach it; none: its address.
    advertised: Option<String>,
    tls: Option<Tls>,
    token: String,
}

impl Server {
    /// For this machine alone. Port 0: any that is free.
    pub async fn bind(host: &Host, port: u16) -> Result<Server, Fault> {
        Server::bind_at(host, SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port), None, None).await
    }

    /// Where and how the configuration says. On anything but loopback there is TLS, with a certificate that the node makes
    /// for itself where none is given.
    pub async fn bind_as(host: &Host, config: &Config) -> Result<Server, Fault> {
        let listens = config.ip("http.listen").unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
        let address = SocketAddr::new(listens, config.number("http.port").unwrap_or(0));
        let advertised = config.text("http.advertise").map(str::to_owned);
        let tls = match (config.path("http.certificate"), config.path("http.key")) {
            (Some(certificate), Some(key)) => {
                let given = TlsFiles { certificate, key, client_ca: None }.read()?;
                Some(Tls::read(&given.certificate, &given.key).map_err(no_tls)?)
            }
            _ if listens.is_loopback() => None,
            _ => {
                let named =
                    advertised.as_deref().and_then(|name| name.rsplit_once(':')).map(|(name, _)| name.to_owned());
                let address = (!listens.is_unspecified()).then(|| listens.to_string());
                let names = named.into_iter().chain(address).chain(["localhost".to_owned(), "127.0.0.1".to_owned()]);
                let own = certs::own(&host.data().http_certificate(), names)?;
                Some(Tls::read(own.as_bytes(), own.as_bytes()).map_err(no_tls)?)
            }
        };
        Server::bind_at(host, address, advertised, tls).await
    }

    async fn bind_at(
        host: &Host,
        wanted: SocketAddr,
        advertised: Option<String>,
        tls: Option<Tls>,
    ) -> Result<Server, Fault> {
        let token = host.data().token()?;
        let trouble = |error: std::io::Error| cannot_listen(&wanted.to_string(), &error);
        let listener = TcpListener::bind(wanted).await.map_err(trouble)?;
        let address = listener.local_addr().map_err(trouble)?;
        Ok(Server { listener, address, advertised, tls, token })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// How consoles and other nodes reach it.
    pub fn api(&self) -> NodeApi {
        NodeApi {
            address: self.advertised.clone().unwrap_or_else(|| self.address.to_string()),
            fingerprint: self.tls.as_ref().map(|tls| tls.fingerprint.clone()),
            machine: machine(),
        }
    }

    /// What a person opens. The token stands where no server log will have it.
    pub fn url(&self) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}/#token={}", self.api().address, self.token)
    }

    /// Answers until `shutdown`.
    pub async fn run(self, host: Arc<Host>, shutdown: CancellationToken) {
        uploads::sweep(&host.data().uploads());
        let names = Names::new(self.address, self.advertised.as_deref(), self.tls.is_some());
        let door = Arc::new(Door {
            host,
            token: self.token,
            names,
            shutdown: shutdown.clone(),
            downloads: Downloads::default(),
        });
        entrance::serve(self.listener, self.tls, router(door), shutdown).await;
    }
}

fn router(door: Arc<Door>) -> Router {
    let with_token = Router::new()
        .route("/api/downloads", post(offer_download))
        .route("/api/uploads", post(upload))
        .route(LOG_PARTS, post(part_of_log))
        .route("/api/{operation}", post(call))
        .route_layer(middleware::from_fn_with_state(door.clone(), shows_a_token));
    Router::new()
        // These come with an address alone: the one brings the token in it, the other a ticket.
        .route("/api/feed", get(feed))
        .route("/api/downloads/{ticket}", get(download))
        .merge(with_token)
        .fallback(get(console::page))
        .layer(DefaultBodyLimit::max(LARGEST_BODY))
        .layer(middleware::from_fn_with_state(door.clone(), guard))
        // No browser brings a token of its own there, so it does not matter by which name somebody came.
        .merge(outside::routes(door.host.clone()))
        .with_state(door)
}

/// Turns away whoever did not come by a name of this node, and tells the browser what our pages may do.
async fn guard(State(door): State<Arc<Door>>, request: Request, next: Next) -> Response {
    let headers = request.headers();
    let text = |name: header::HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    let by_our_name = text(header::HOST).is_some_and(|host| door.names.admit(host));
    let from_our_page = text(header::ORIGIN).is_none_or(|origin| door.names.admit_origin(origin));
    if !by_our_name || !from_our_page {
        return refusal(&Code::NoPermission.fault());
    }
    let mut response = next.run(request).await;
    let policy = format!(
        "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; \
         font-src 'self' data:; connect-src 'self' {}; object-src 'none'; base-uri 'none'; form-action 'none'; \
         frame-ancestors 'none'",
        door.names.sockets()
    );
    let headers = response.headers_mut();
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    response
}

/// Turns away whoever shows neither the folder's token nor a pass; whoever follows learns who it is.
async fn shows_a_token(State(door): State<Arc<Door>>, mut request: Request, next: Next) -> Response {
    let shown = request.headers().get(header::AUTHORIZATION);
    let shown = shown.and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
    match door.admits(shown.unwrap_or_default()).await {
        Ok(entry) => {
            request.extensions_mut().insert(entry.who(&door));
            next.run(request).await
        }
        Err(fault) => refusal(&fault),
    }
}

#[derive(Deserialize)]
#[serde(default)]
struct Envelope {
    input: Value,
    zone: String,
    lang: Lang,
}

impl Default for Envelope {
    fn default() -> Self {
        Envelope { input: Value::Null, zone: String::new(), lang: Lang::En }
    }
}

async fn call(
    State(door): State<Arc<Door>>,
    Path(operation): Path<String>,
    Extension(who): Extension<Person>,
    request: Request,
) -> Response {
    let envelope = match read_envelope(request).await {
        Ok(envelope) => envelope,
        Err(fault) => return refusal(&fault),
    };
    let cx = CallContext { who, zone: envelope.zone, lang: envelope.lang };
    match door.host.call(&operation, envelope.input, &cx).await {
        Ok(answer) => ([(header::CACHE_CONTROL, "no-store")], Json(answer)).into_response(),
        Err(fault) => refusal(&fault),
    }
}

/// Lines that this node keeps, for another node that shows them.
async fn part_of_log(State(door): State<Arc<Door>>, Json(asked): Json<Asked>) -> Response {
    match door.host.part_of_log(&asked).await {
        Ok(given) => ([(header::CACHE_CONTROL, "no-store")], Json(given)).into_response(),
        Err(fault) => refusal(&fault),
    }
}

/// Draws a ticket for one file; whoever follows it needs no token, so that the token is in no history of downloads.
async fn offer_download(
    State(door): State<Arc<Door>>,
    Extension(who): Extension<Person>,
    request: Request,
) -> Response {
    let envelope = match read_envelope(request).await {
        Ok(envelope) => envelope,
        Err(fault) => return refusal(&fault),
    };
    match serde_json::from_value::<Wanted>(envelope.input) {
        Ok(wanted) => {
            let cx = CallContext { who, zone: String::new(), lang: envelope.lang };
            Json(serde_json::json!({"ticket": door.downloads.offer(wanted, cx)})).into_response()
        }
        Err(error) => refusal(&Code::BadRequest.fault().with("reason", error)),
    }
}

/// Streams a whole file, made as fast as it is taken; whoever breaks off ends it.
async fn download(State(door): State<Arc<Door>>, Path(ticket): Path<String>) -> Response {
    let Some((wanted, cx)) = door.downloads.take(&ticket) else { return refusal(&Code::TokenWrong.fault()) };
    // The first piece is asked for before anything is answered: what is refused is refused as such.
    let begun = async {
        let mut pieces = wanted.pieces(&door.host, &cx).await?;
        let first = pieces.next(&door.host, &cx).await?;
        Ok((pieces, first.unwrap_or_default()))
    };
    let (pieces, first) = match begun.await {
        Ok(begun) => begun,
        Err(fault) => return refusal(&fault),
    };
    let rest = stream::unfold(Some((pieces, door.clone(), cx)), async |state| {
        let (mut pieces, door, cx) = state?;
        match pieces.next(&door.host, &cx).await {
            Ok(Some(piece)) => Some((Ok(piece), Some((pieces, door, cx)))),
            Ok(None) => None,
            Err(fault) => Some((Err(std::io::Error::other(fault.to_string())), None)),
        }
    });
    let body = body::Body::from_stream(stream::once(async { Ok(first) }).chain(rest));
    let name = file_name(wanted.name());
    let plain: String = name.chars().map(|letter| if letter.is_ascii() { letter } else { '_' }).collect();
    let encoded: String = name.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let disposition = format!("attachment; filename=\"{plain}\"; filename*=UTF-8''{encoded}");
    let headers = [
        (header::CONTENT_TYPE, wanted.content_type().to_owned()),
        (header::CACHE_CONTROL, "no-store".to_owned()),
        (header::CONTENT_DISPOSITION, disposition),
    ];
    (headers, body).into_response()
}

#[derive(Deserialize)]
struct Named {
    name: String,
}

/// Takes in a file as the body of the request, as it is.
async fn upload(State(door): State<Arc<Door>>, Query(named): Query<Named>, request: Request) -> Response {
    match uploads::receive(&door.host, &named.name, request.into_body()).await {
        Ok(given) => ([(header::CACHE_CONTROL, "no-store")], Json(given)).into_response(),
        Err(fault) => refusal(&fault),
    }
}

async fn read_envelope(request: Request) -> Result<Envelope, Fault> {
    let bad = |reason: &Words| Code::BadRequest.fault().with_words("reason", reason);
    let bytes = body::to_bytes(request.into_body(), LARGEST_BODY).await.map_err(|_| {
        let most = LARGEST_BODY / 1024 / 1024;
        bad(&Words::new(format!("it is larger than {most} MB"), format!("请求超过 {most} MB")))
    })?;
    if bytes.is_empty() {
        return Ok(Envelope::default());
    }
    serde_json::from_slice(&bytes)
        .map_err(|error| bad(&Words::new(format!("it is no JSON: {error}"), format!("不是有效的 JSON：{error}"))))
}

#[derive(Deserialize)]
struct Shown {
    #[serde(default)]
    token: String,
}

async fn feed(State(door): State<Arc<Door>>, Query(shown): Query<Shown>, upgrade: WebSocketUpgrade) -> Response {
    let entry = match door.admits(&shown.token).await {
        Ok(entry) => entry,
        Err(fault) => return refusal(&fault),
    };
    upgrade.on_upgrade(move |socket| async move {
        let over = async {
            match entry {
                Entry::Owner => std::future::pending().await,
                Entry::Pass(pass) => door.host.passes().over(&shown.token, pass).await,
            }
        };
        send_frames(&door, socket, over).await;
    })
}

/// Until whoever looks on is gone, the program ends, or it is `over`.
async fn send_frames(door: &Door, mut socket: WebSocket, over: impl Future<Output = ()>) {
    let mut frames = door.host.feed().subscribe();
    tokio::pin!(over);
    loop {
        let frame = tokio::select! {
            frame = frames.next() => frame,
            heard = socket.recv() => match heard {
                // A browser says nothing; that it is gone is what there is to hear.
                Some(Ok(Message::Close(_)) | Err(_)) | None => return,
                Some(Ok(_)) => continue,
            },
            () = door.shutdown.cancelled() => None,
            () = &mut over => None,
        };
        let Some(frame) = frame else { break };
        let text = match serde_json::to_string(&frame) {
            Ok(text) => text,
            Err(error) => {
                tracing::error!(%error, "a frame cannot be written");
                break;
            }
        };
        if socket.send(Message::Text(text.into())).await.is_err() {
            return;
        }
    }
    // It ends either way.
    let _ = socket.send(Message::Close(None)).await;
}

/// By what somebody came in.
enum Entry {
    /// The folder's token.
    Owner,
    Pass(Pass),
}

impl Entry {
    fn who(&self, door: &Door) -> Person {
        match self {
            Entry::Owner => door.host.person().clone(),
            Entry::Pass(pass) => pass.who.clone(),
        }
    }
}

impl Door {
    async fn admits(&self, shown: &str) -> Result<Entry, Fault> {
        if self.is_own(shown) {
            return Ok(Entry::Owner);
        }
        let pass = self.host.passes().known(shown).await?;
        pass.map(Entry::Pass).ok_or_else(|| Code::TokenWrong.fault())
    }

    /// Takes the same time wherever the two differ.
    fn is_own(&self, shown: &str) -> bool {
        let (ours, theirs) = (self.token.as_bytes(), shown.as_bytes());
        ours.len() == theirs.len() && ours.iter().zip(theirs).fold(0, |differ, (a, b)| differ | (a ^ b)) == 0
    }
}

pub(crate) fn refusal(fault: &Fault) -> Response {
    (status_of(fault), Json(fault)).into_response()
}

/// What a fault is in the words of HTTP.
pub fn status_of(fault: &Fault) -> StatusCode {
    match Code::ALL.iter().copied().find(|code| fault.is(*code)) {
        Some(Code::TokenWrong) => StatusCode::UNAUTHORIZED,
        Some(Code::NoPermission) => StatusCode::FORBIDDEN,
        Some(Code::TooManyTries) => StatusCode::TOO_MANY_REQUESTS,
        Some(
            Code::JobNotFound
            | Code::InstanceNotFound
            | Code::TaskNotFound
            | Code::AlarmNotFound
            | Code::ExecutorNotFound
            | Code::TokenNotFound
            | Code::UnknownOperation
            | Code::NothingToRestore
            | Code::DataFileUnknown,
        ) => StatusCode::NOT_FOUND,
        Some(
            Code::JobNameTaken
            | Code::JobChanged
            | Code::InstanceFinal
            | Code::InstanceNotFinal
            | Code::TaskIllegal
            | Code::ExecutorNameTaken
            | Code::DataGone
            | Code::DataFileChanged
            | Code::DataNotLooked,
        ) => StatusCode::CONFLICT,
        Some(Code::StorageUnavailable | Code::NotLeading | Code::Unanswered) => StatusCode::SERVICE_UNAVAILABLE,
        Some(Code::DiskFull) => StatusCode::INSUFFICIENT_STORAGE,
        Some(Code::DataReadOnly | Code::SchemaNewer | Code::DataDamaged | Code::LogUnavailable) => {
            StatusCode::INTERNAL_SERVER_ERROR
        }
        _ => StatusCode::BAD_REQUEST,
    }
}

//! `http`: one request, judged by its status.
//!
//! Link-local addresses (and with them the metadata services of clouds) are never
//! called. Private and loopback ones are called only where the executor's policy
//! *and* the job's parameters allow it. The check is made on the very addresses
//! that are connected to, after the name was resolved and again on each redirect,
//! so a name that changes its mind between check and connection gains nothing.
//! Proxies of the environment are not used, since they would hide the address.

use std::{
    collections::BTreeMap,
    error::Error as _,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use campanile_sdk::{Processor, ProcessorInfo, Question, TaskContext, TaskError, failure};
use reqwest::{
    Client, Method, StatusCode, Url,
    dns::{Addrs, Name, Resolve, Resolving},
    header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue},
    redirect,
};
use serde::Deserialize;
use serde_json::{Value, json};

/// Of the answer's body, this much is the task's result.
const BODY_BYTES: usize = 32 * 1024;

const MAX_REDIRECTS: usize = 10;

const CONNECT_WITHIN: Duration = Duration::from_secs(10);

/// A question that is not answered in time counts as yes.
const ANSWER_WITHIN: Duration = Duration::from_secs(2);

/// Whether jobs of this executor may ask for private and loopback addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrivateAddresses {
    /// With `allowPrivate` in the job's parameters.
    WhenAsked,
    Never,
}

/// What the executor's owner allows.
#[derive(Clone, Copy, Debug)]
pub struct HttpPolicy {
    pub private: PrivateAddresses,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct HttpParameters {
    #[serde(default = "default_method")]
    pub method: String,
    pub url: String,
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// Text as it is; anything else as JSON.
    #[serde(default)]
    pub body: Option<Value>,
    /// 200, "200-299,304", or a list of such.
    #[serde(default = "default_status")]
    pub expected_status: Value,
    #[serde(default = "default_timeout")]
    pub timeout_seconds: f64,
    #[serde(default)]
    pub allow_private: bool,
    #[serde(default = "default_follow")]
    pub follow_redirects: bool,
}

fn default_method() -> String {
    "GET".into()
}

fn default_status() -> Value {
    json!("200-299")
}

fn default_timeout() -> f64 {
    30.0
}

fn default_follow() -> bool {
    true
}

pub struct HttpProcessor {
    policy: HttpPolicy,
    /// One for each pair of (private allowed, redirects followed), made when first
    /// wanted: it carries the system's certificates and its open connections.
    clients: Mutex<BTreeMap<(bool, bool), Client>>,
}

impl HttpProcessor {
    pub fn new(policy: HttpPolicy) -> Self {
        HttpProcessor { policy, clients: Mutex::default() }
    }

    fn client(&self, private: bool, follow: bool) -> Result<Client, TaskError> {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = clients.get(&(private, follow)) {
            return Ok(client.clone());
        }
        let client = Client::builder()
            .no_proxy()
            .connect_timeout(CONNECT_WITHIN)
            .user_agent(concat!("campanile/", env!("CARGO_PKG_VERSION")))
            .dns_resolver(CheckedResolver { private })
            .redirect(if follow { checked_redirects(private) } else { redirect::Policy::none() })
            .build()
            .map_err(|error| failure::NOT_STARTED.system().with("detail", with_causes(&error)))?;
        clients.insert((private, follow), client.clone());
        Ok(client)
    }
}

#[async_trait]
impl Processor for HttpProcessor {
    fn name(&self) -> &str {
        "http"
    }

    fn describe(&self) -> ProcessorInfo {
        ProcessorInfo::new("http")
            .title("HTTP request", "HTTP 请求")
            .description(
                "Sends one request. The status decides the outcome, the body is the result.",
                "发送一次请求。由状态码决定结果，响应正文作为任务结果。",
            )
            .parameters(json!({
                "type": "object",
                "required": ["url"],
                "additionalProperties": false,
                "x-order": [
                    "method", "url", "headers", "body", "expectedStatus", "timeoutSeconds", "followRedirects", "allowPrivate"
                ],
                "properties": {
                    "method": {
                        "type": "string", "default": "GET",
                        "enum": ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"],
                        "title": "Method", "title:zh": "方法"
                    },
                    "url": {
                        "type": "string", "minLength": 1, "format": "uri",
                        "title": "Address", "title:zh": "地址",
                        "description": "http:// or https://", "description:zh": "http:// 或 https://"
                    },
                    "headers": {
                        "type": "object", "additionalProperties": { "type": "string" }, "default": {},
                        "title": "Headers", "title:zh": "请求头",
                        "description": "Idempotency-Key is added unless it is given.",
                        "description:zh": "未指定时自动附加 Idempotency-Key。"
                    },
                    "body": {
                        "type": "string", "format": "multiline",
                        "title": "Body", "title:zh": "正文"
                    },
                    "expectedStatus": {
                        "type": "string", "default": "200-299",
                        "title": "Expected status", "title:zh": "期望的状态码",
                        "description": "Single ones and ranges, as in 200-299,304.",
                        "description:zh": "单个状态码或范围，例如 200-299,304。"
                    },
                    "timeoutSeconds": {
                        "type": "number", "exclusiveMinimum": 0, "maximum": 86400, "default": 30, "format": "duration",
                        "title": "Time limit", "title:zh": "时限",
                        "description": "For the whole request, in seconds.", "description:zh": "整个请求的时限（秒）。"
                    },
                    "followRedirects": {
                        "type": "boolean", "default": true,
                        "title": "Follow redirects", "title:zh": "跟随重定向"
                    },
                    "allowPrivate": {
                        "type": "boolean", "default": false,
                        "title": "Allow private addresses", "title:zh": "允许访问内网地址",
                        "description": "Also this machine itself, if the executor's owner permits it.",
                        "description:zh": "包括本机；还须 Executor 的所有者允许。"
                    }
                }
            }))
            .answers_still_needed()
    }

    /// Yes where the address answers 200. Redirects are followed; private addresses go by the executor's policy alone.
    async fn still_needed(&self, question: Question) -> Result<bool, TaskError> {
        let url = question.parameters.get("url").and_then(Value::as_str).unwrap_or_default();
        let url = Url::parse(url).map_err(|error| refused("url", &error.to_string()))?;
        let private = self.policy.private == PrivateAddresses::WhenAsked;
        check_literal(&url, private).map_err(AddressRefused::into_task_error)?;
        let asked = self.client(private, true)?.get(url.clone()).timeout(ANSWER_WITHIN).send().await;
        let answer = asked.map_err(|error| {
            failure::UNREACHABLE.transient().with("url", url.as_str()).with("detail", error.without_url())
        })?;
        Ok(answer.status() == StatusCode::OK)
    }

    async fn process(&self, ctx: TaskContext) -> Result<Value, TaskError> {
        let parameters: HttpParameters = ctx.parameters_as()?;
        let expected = Expected::read(&parameters.expected_status)?;
        let private = parameters.allow_private && self.policy.private == PrivateAddresses::WhenAsked;
        let request = self.request(&ctx, &parameters, private)?;
        let url = request.url().clone();
        let client = self.client(private, parameters.follow_redirects)?;
        ctx.log(format!("{} {url}", request.method()));
        let work = exchange(&client, request, &expected);
        tokio::select! {
            outcome = work => outcome.map_err(|broken| broken.into_task_error(&url, &parameters)),
            () = ctx.cancelled() => Err(TaskError::cancelled("the request was dropped")),
        }
    }
}

impl HttpProcessor {
    fn request(
        &self,
        ctx: &TaskContext,
        parameters: &HttpParameters,
        private: bool,
    ) -> Result<reqwest::Request, TaskError> {
        let url = Url::parse(&parameters.url).map_err(|error| refused("url", &error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
            return Err(refused("url", "it must begin with http:// or https:// and name a host"));
        }
        check_literal(&url, private).map_err(AddressRefused::into_task_error)?;
        let method = Method::from_bytes(parameters.method.to_uppercase().as_bytes())
            .map_err(|error| refused("method", &error.to_string()))?;
        if !(parameters.timeout_seconds > 0.0 && parameters.timeout_seconds <= 86_400.0) {
            return Err(refused("timeoutSeconds", "it must be more than 0 and at most 86400"));
        }
        let mut request = reqwest::Request::new(method, url);
        *request.timeout_mut() = Some(Duration::from_secs_f64(parameters.timeout_seconds));

        let headers: &mut HeaderMap = request.headers_mut();
        if let Ok(key) = HeaderValue::from_str(ctx.idempotency_key()) {
            headers.insert("idempotency-key", key);
        }
        let body = match &parameters.body {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) => Some(text.clone()),
            Some(json) => {
                headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
                Some(json.to_string())
            }
        };
        for (name, value) in &parameters.headers {
            let field = format!("headers.{name}");
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|error| refused(&field, &error.to_string()))?;
            let value = HeaderValue::from_str(value).map_err(|error| refused(&field, &error.to_string()))?;
            headers.insert(name, value);
        }
        *request.body_mut() = body.map(Into::into);
        Ok(request)
    }
}

fn refused(field: &str, problem: &str) -> TaskError {
    failure::PARAMETERS_REFUSED.business().with("field", field).with("problem", problem)
}

/// Why there is no result: decided apart from the request, which knows nothing of
/// parameters.
enum Broken {
    Sending(reqwest::Error),
    Reading(reqwest::Error),
    Status { status: u16, expected: String },
}

async fn exchange(client: &Client, request: reqwest::Request, expected: &Expected) -> Result<Value, Broken> {
    let mut response = client.execute(request).await.map_err(Broken::Sending)?;
    let status = response.status().as_u16();
    if !expected.has(status) {
        return Err(Broken::Status { status, expected: expected.to_string() });
    }
    let content_type =
        response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
    let mut body = Vec::new();
    let mut truncated = false;
    while let Some(chunk) = response.chunk().await.map_err(Broken::Reading)? {
        let room = BODY_BYTES - body.len();
        body.extend_from_slice(&chunk[..chunk.len().min(room)]);
        if chunk.len() > room {
            truncated = true;
            break;
        }
    }
    let mut text = String::from_utf8_lossy(&body).into_owned();
    if truncated && text.ends_with('\u{fffd}') {
        text.pop();
    }
    if text.len() > BODY_BYTES {
        // Replacement characters are longer than the bytes they stand for.
        let end = (0..=BODY_BYTES).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        text.truncate(end);
        truncated = true;
    }
    Ok(json!({ "status": status, "contentType": content_type, "body": text, "truncated": truncated }))
}

impl Broken {
    fn into_task_error(self, url: &Url, parameters: &HttpParameters) -> TaskError {
        match self {
            Broken::Status { status, expected } => {
                let failure = match status {
                    // Busy, or too early: another try may do.
                    408 | 425 | 429 | 500..=599 => failure::HTTP_STATUS.transient(),
                    _ => failure::HTTP_STATUS.business(),
                };
                failure.with("url", url).with("status", status).with("expected", expected)
            }
            Broken::Sending(error) | Broken::Reading(error) if error.is_timeout() => failure::TIMED_OUT
                .transient()
                .with_words("what", "the request", "请求")
                .with("seconds", parameters.timeout_seconds),
            Broken::Reading(error) => {
                failure::RESPONSE_BROKEN.transient().with("url", url).with("detail", with_causes(&error))
            }
            Broken::Sending(error) => match address_refused(&error) {
                Some(refused) => refused.into_task_error(),
                None if error.is_redirect() => {
                    failure::UNREACHABLE.business().with("url", url).with("detail", with_causes(&error))
                }
                None => failure::UNREACHABLE.transient().with("url", url).with("detail", with_causes(&error)),
            },
        }
    }
}

/// The chain of reasons: the outermost alone says only that sending failed.
fn with_causes(error: &reqwest::Error) -> String {
    let mut causes = Vec::new();
    let mut next = error.source();
    while let Some(cause) = next {
        causes.push(cause.to_string());
        next = cause.source();
    }
    match causes.last() {
        Some(_) => causes.join(": "),
        None => error.to_string(),
    }
}

// ------------------------------------------------------------------- status --

/// The statuses that mean success.
#[derive(Debug)]
struct Expected(Vec<(u16, u16)>);

impl Expected {
    fn read(value: &Value) -> Result<Expected, TaskError> {
        let mut ranges = Vec::new();
        Self::collect(value, &mut ranges)?;
        if ranges.is_empty() {
            return Err(refused("expectedStatus", "it names no status"));
        }
        Ok(Expected(ranges))
    }

    fn collect(value: &Value, ranges: &mut Vec<(u16, u16)>) -> Result<(), TaskError> {
        let wrong =
            || refused("expectedStatus", &format!("{value} is not a status such as 200 or a range such as 200-299"));
        let status = |text: &str| match text.trim().parse::<u16>() {
            Ok(status @ 100..=999) => Ok(status),
            _ => Err(wrong()),
        };
        match value {
            Value::Array(values) => values.iter().try_for_each(|value| Self::collect(value, ranges)),
            Value::Number(number) => {
                let status = status(&number.to_string())?;
                ranges.push((status, status));
                Ok(())
            }
            Value::String(text) => text.split(',').try_for_each(|part| {
                let (from, to) = match part.split_once('-') {
                    Some((from, to)) => (status(from)?, status(to)?),
                    None => (status(part)?, status(part)?),
                };
                if from > to {
                    return Err(wrong());
                }
                ranges.push((from, to));
                Ok(())
            }),
            _ => Err(wrong()),
        }
    }

    fn has(&self, status: u16) -> bool {
        self.0.iter().any(|(from, to)| (*from..=*to).contains(&status))
    }
}

impl std::fmt::Display for Expected {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (place, (from, to)) in self.0.iter().enumerate() {
            let comma = if place == 0 { "" } else { "," };
            match from == to {
                true => write!(f, "{comma}{from}")?,
                false => write!(f, "{comma}{from}-{to}")?,
            }
        }
        Ok(())
    }
}

// ---------------------------------------------------------------- addresses --

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    Public,
    Private,
    /// Link-local, multicast, broadcast, metadata: never.
    Forbidden,
}

/// Where an address lies. One that stands for an IPv4 address is judged as that.
fn reach(address: IpAddr) -> Reach {
    match address {
        IpAddr::V4(v4) => reach_v4(v4),
        IpAddr::V6(v6) => match embedded_v4(v6) {
            Some(v4) => reach_v4(v4),
            None => reach_v6(v6),
        },
    }
}

fn reach_v4(address: Ipv4Addr) -> Reach {
    let [a, b, ..] = address.octets();
    // One cloud keeps its metadata service in a provider's own network, below.
    if address == Ipv4Addr::new(100, 100, 100, 200) {
        return Reach::Forbidden;
    }
    match (a, b) {
        (169, 254) | (224..=255, _) => Reach::Forbidden,
        // 0.0.0.0/8 reaches this machine; 100.64/10 is a provider's own network.
        (0 | 10 | 127, _) | (172, 16..=31) | (192, 168) | (100, 64..=127) | (198, 18 | 19) => Reach::Private,
        (192, 0) if address.octets()[2] == 0 => Reach::Private,
        _ => Reach::Public,
    }
}

fn reach_v6(address: Ipv6Addr) -> Reach {
    let first = address.segments()[0];
    // fd00:ec2::254 is a metadata service inside the private range.
    if (first & 0xffc0) == 0xfe80
        || address.is_multicast()
        || address == Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254)
    {
        return Reach::Forbidden;
    }
    // fec0::/10 was meant to be site-local, and some routers still think so.
    if address.is_loopback() || address.is_unspecified() || (first & 0xfe00) == 0xfc00 || (first & 0xffc0) == 0xfec0 {
        return Reach::Private;
    }
    Reach::Public
}

/// The IPv4 address that is meant by a mapped, compatible, NAT64 or 6to4 one.
fn embedded_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let v4 = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        Ipv4Addr::new(a, b, c, d)
    };
    match address.segments() {
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => Some(v4(high, low)),
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => None,
        [0, 0, 0, 0, 0, 0, high, low] => Some(v4(high, low)),
        [0x2002, high, low, ..] => Some(v4(high, low)),
        _ => None,
    }
}

/// An address that is not to be called, found in a name, a URL or a redirect.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{address} may not be called")]
struct AddressRefused {
    address: String,
    reach: Reach,
}

impl AddressRefused {
    fn into_task_error(self) -> TaskError {
        let failure = failure::ADDRESS_REFUSED.business().with("address", &self.address);
        match self.reach {
            Reach::Private => failure.with_words(
                "why",
                "it is private, and the job and the executor do not both allow that",
                "这是内网地址，须任务与 Executor 均允许",
            ),
            _ => failure.with_words(
                "why",
                "link-local, multicast and metadata addresses are never called",
                "链路本地、组播与元数据地址一律禁止",
            ),
        }
    }
}

fn check(address: IpAddr, private: bool, named: &str) -> Result<(), AddressRefused> {
    let reach = reach(address);
    match reach {
        Reach::Public => Ok(()),
        Reach::Private if private => Ok(()),
        _ => {
            let address = address.to_string();
            let address = if named == address { address } else { format!("{named} ({address})") };
            Err(AddressRefused { address, reach })
        }
    }
}

/// The resolver does not see addresses that stand in the URL themselves, in
/// whatever notation.
fn check_literal(url: &Url, private: bool) -> Result<(), AddressRefused> {
    let Some(host) = url.host_str() else { return Ok(()) };
    match host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>() {
        Ok(address) => check(address, private, host),
        Err(_) => Ok(()),
    }
}

fn checked_redirects(private: bool) -> redirect::Policy {
    redirect::Policy::custom(move |attempt| {
        if attempt.previous().len() > MAX_REDIRECTS {
            return attempt.error("too many redirects");
        }
        match check_literal(attempt.url(), private) {
            Ok(()) => attempt.follow(),
            Err(refused) => attempt.error(refused),
        }
    })
}

/// Resolves a name and lets through only addresses that may be called. The
/// connection is made to what it returns, with no second look-up in between.
struct CheckedResolver {
    private: bool,
}

impl Resolve for CheckedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let private = self.private;
        Box::pin(async move {
            let mut allowed: Vec<SocketAddr> = Vec::new();
            let mut refused = None;
            for address in tokio::net::lookup_host((name.as_str(), 0)).await? {
                match check(address.ip(), private, name.as_str()) {
                    Ok(()) => allowed.push(address),
                    Err(error) => refused = Some(error),
                }
            }
            match (allowed.is_empty(), refused) {
                (true, Some(refused)) => Err(refused.into()),
                _ => Ok(Box::new(allowed.into_iter()) as Addrs),
            }
        })
    }
}

fn address_refused(error: &reqwest::Error) -> Option<AddressRefused> {
    let mut next = error.source();
    while let Some(cause) = next {
        if let Some(refused) = cause.downcast_ref::<AddressRefused>() {
            return Some(refused.clone());
        }
        next = cause.source();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_write_an_address_is_judged_by_where_it_leads() {
        for (address, expected) in [
            ("93.184.216.34", Reach::Public),
            ("2606:2800:220:1::1", Reach::Public),
            ("127.0.0.1", Reach::Private),
            ("0.0.0.0", Reach::Private),
            ("10.1.2.3", Reach::Private),
            ("172.31.0.1", Reach::Private),
            ("172.32.0.1", Reach::Public),
            ("192.168.1.1", Reach::Private),
            ("100.64.0.1", Reach::Private),
            ("100.100.100.200", Reach::Forbidden),
            ("::1", Reach::Private),
            ("::", Reach::Private),
            ("fd12::1", Reach::Private),
            ("::ffff:10.0.0.1", Reach::Private),
            ("::ffff:169.254.169.254", Reach::Forbidden),
            ("::7f00:1", Reach::Private),
            ("64:ff9b::a9fe:a9fe", Reach::Forbidden),
            ("2002:a9fe:a9fe::1", Reach::Forbidden),
            ("169.254.169.254", Reach::Forbidden),
            ("fe80::1", Reach::Forbidden),
            ("fd00:ec2::254", Reach::Forbidden),
            ("224.0.0.1", Reach::Forbidden),
            ("255.255.255.255", Reach::Forbidden),
        ] {
            assert_eq!(reach(address.parse().unwrap()), expected, "{address}");
        }
    }

    #[test]
    fn an_address_in_the_url_is_seen_in_any_notation() {
        for url in [
            "http://127.0.0.1/",
            "http://2130706433/",
            "http://0x7f.1/",
            "http://0177.0.0.1/",
            "http://[::1]/",
            "http://[::ffff:127.0.0.1]/",
        ] {
            let url = Url::parse(url).unwrap();
            assert!(check_literal(&url, false).is_err(), "{url}");
            assert!(check_literal(&url, true).is_ok(), "{url}");
        }
        assert!(check_literal(&Url::parse("http://[fe80::1]/").unwrap(), true).is_err());
    }

    #[test]
    fn expected_statuses_are_numbers_ranges_and_lists_of_them() {
        let has = |value: Value, status| Expected::read(&value).unwrap().has(status);
        assert!(has(json!("200-299"), 204) && !has(json!("200-299"), 300));
        assert!(has(json!([200, "301-302, 304"]), 304) && !has(json!([200, "301-302, 304"]), 303));
        for wrong in [json!("2xx"), json!([]), json!("299-200"), json!(42), json!(null)] {
            assert!(Expected::read(&wrong).is_err(), "{wrong}");
        }
        assert_eq!(Expected::read(&json!([200, "301-302"])).unwrap().to_string(), "200,301-302");
    }
}

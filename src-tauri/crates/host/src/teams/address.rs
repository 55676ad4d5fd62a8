//! What people write as the address of a node: what `campanile serve` prints, or less. Pure.

use campanile_model::{Code, Fault, Words};
use reqwest::Url;

/// Where a node answers, and what opens it, as far as that was written there.
#[derive(Debug, PartialEq, Eq)]
pub struct Written {
    /// `http://127.0.0.1:4000`, without anything after it.
    pub base: String,
    pub token: Option<String>,
}

/// A token is the key to everything: to another machine it goes by TLS alone.
pub fn read(text: &str) -> Result<Written, Fault> {
    let text = text.trim();
    let wrong = |en: &str, zh: &str| {
        // Whatever follows the address may be a token.
        let shown = text.split(['#', '?']).next().unwrap_or_default();
        Code::TeamAddress.fault().with("address", shown).with_words("reason", &Words::new(en, zh)).at("nodes")
    };
    let full = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
    let url = Url::parse(&full).map_err(|_| wrong("it is not an address", "格式不正确"))?;
    let host = url.host_str().filter(|host| !host.is_empty());
    let host = host.ok_or_else(|| wrong("it names no machine", "缺少主机名"))?;
    let loopback =
        host == "localhost" || host.trim_matches(['[', ']']).parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback());
    match url.scheme() {
        "https" => {}
        "http" if loopback => {}
        "http" => {
            return Err(wrong(
                "another machine is reached by https, or through a tunnel to this one",
                "访问其他机器须使用 https，或经隧道转到本机",
            ));
        }
        _ => return Err(wrong("it begins with http:// or https://", "须以 http:// 或 https:// 开头")),
    }
    if !matches!(url.path(), "" | "/") || url.query().is_some() || !url.username().is_empty() {
        return Err(wrong("nothing follows the port but #token=…", "端口之后只能是 #token=…"));
    }
    let token = url.fragment().and_then(|fragment| fragment.strip_prefix("token=")).map(str::to_owned);
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    Ok(Written { base: format!("{}://{host}{port}", url.scheme()), token: token.filter(|token| !token.is_empty()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<(&str, Option<&str>)>) {
        let found = read(text).ok();
        let expected = expected.map(|(base, token)| Written { base: base.to_owned(), token: token.map(str::to_owned) });
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn an_address_is_read_as_it_is_printed_or_as_people_shorten_it() {
        check("http://127.0.0.1:4000/#token=abc", Some(("http://127.0.0.1:4000", Some("abc"))));
        check(" http://localhost:4000 ", Some(("http://localhost:4000", None)));
        check("127.0.0.1:4000", Some(("http://127.0.0.1:4000", None)));
        check("http://[::1]:4000/", Some(("http://[::1]:4000", None)));
        check("https://campanile.example.com/#token=", Some(("https://campanile.example.com", None)));
        check("https://node-b.example.com:8443", Some(("https://node-b.example.com:8443", None)));
    }

    #[test]
    fn a_token_goes_to_another_machine_by_tls_alone() {
        check("http://10.0.0.5:4000/#token=abc", None);
        check("10.0.0.5:4000", None);
    }

    #[test]
    fn what_is_no_address_is_refused_without_saying_the_token() {
        for text in
            ["", "ftp://127.0.0.1", "http://", "http://127.0.0.1:4000/jobs#token=secret", "http://a b/#token=secret"]
        {
            check(text, None);
            let fault = read(text).expect_err("it is refused");
            assert!(fault.is(Code::TeamAddress) && !fault.to_string().contains("secret"), "{fault}");
        }
    }
}

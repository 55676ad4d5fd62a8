//! What people write as the address of a node (what `campanile serve` prints, or less), or of a team's database. Pure.

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

/// Where the database of a team is, and the password of its account where that was written there.
#[derive(Debug, PartialEq, Eq)]
pub struct WrittenDatabase {
    /// `mysql://user@host:3306/database?ssl-mode=…`, without a password.
    pub address: String,
    pub password: Option<String>,
}

/// What was written of a database, which is not opened here.
pub fn read_database(text: &str) -> Result<WrittenDatabase, Fault> {
    let text = text.trim();
    let wrong = |en: &str, zh: &str| {
        // There may be a password before the host, and after a question mark anything.
        let (scheme, rest) = text.split_once("://").unwrap_or(("", text));
        let shown = rest.rsplit_once('@').map_or(rest, |(_, after)| after).split(['?', '#']).next().unwrap_or_default();
        let shown = if scheme.is_empty() { shown.to_owned() } else { format!("{scheme}://{shown}") };
        Code::TeamDatabase.fault().with("address", shown).with_words("reason", &Words::new(en, zh)).at("database")
    };
    let mut url = Url::parse(text).map_err(|_| wrong("it is not an address", "格式不正确"))?;
    if url.scheme() != "mysql" {
        return Err(wrong("it begins with mysql://", "须以 mysql:// 开头"));
    }
    if url.host_str().is_none_or(str::is_empty) {
        return Err(wrong("it names no machine", "缺少主机名"));
    }
    let name = url.path().trim_start_matches('/');
    if name.is_empty() || name.contains('/') {
        return Err(wrong("it ends with the name of one database", "须以一个库名结尾"));
    }
    if url.username().is_empty() {
        return Err(wrong("it names no account", "缺少账号"));
    }
    if url.fragment().is_some() {
        return Err(wrong("nothing follows the options", "选项之后不能有其他内容"));
    }
    // What stands there is written as an address has to write it.
    let password = url.password().map(|_| plain_password(text)).filter(|password| !password.is_empty());
    url.set_password(None).map_err(|()| wrong("it is not an address", "格式不正确"))?;
    Ok(WrittenDatabase { address: url.into(), password })
}

/// The password of an address, with what `%` stands for put in.
fn plain_password(text: &str) -> String {
    let written = Url::parse(text).ok().and_then(|url| url.password().map(str::to_owned)).unwrap_or_default();
    let mut bytes = Vec::with_capacity(written.len());
    let mut rest = written.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = (*first == b'%').then(|| std::str::from_utf8(after.get(..2)?).ok()).flatten();
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The address with the password in it, as a driver takes it.
pub fn with_password(address: &str, password: Option<&str>) -> String {
    let Ok(mut url) = Url::parse(address) else { return address.to_owned() };
    // A percent sign is written as it is, but would be read as the beginning of a code.
    let password = password.filter(|password| !password.is_empty()).map(|password| password.replace('%', "%25"));
    // It was read as an address with a host: there is a place for it.
    let _ = url.set_password(password.as_deref());
    url.into()
}

/// Whether a password that was given for the one is the other's, too: it goes to no other account and no other machine.
pub fn is_same_account(one: &str, other: &str) -> bool {
    let account = |address: &str| {
        let url = Url::parse(address).ok()?;
        Some((url.username().to_owned(), url.host_str()?.to_owned(), url.port().unwrap_or(3306)))
    };
    account(one).is_some() && account(one) == account(other)
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
    fn the_address_of_a_database_is_kept_without_its_password() {
        for (text, expected) in [
            ("mysql://mei@db:3306/campanile", Some(("mysql://mei@db:3306/campanile", None))),
            (
                " mysql://mei:s%2Fe%25@db/c?ssl-mode=REQUIRED ",
                Some(("mysql://mei@db/c?ssl-mode=REQUIRED", Some("s/e%"))),
            ),
            ("mysql://mei:@db/c", Some(("mysql://mei@db/c", None))),
            ("mysql://mei:%E5%AF%86@[::1]/c", Some(("mysql://mei@[::1]/c", Some("密")))),
            ("postgres://mei:s3cret@db/c", None),
            ("mysql://mei:s3cret@db", None),
            ("mysql://mei:s3cret@db/c/d", None),
            ("mysql://:s3cret@db/c", None),
            ("mysql://db/c", None),
            ("mysql:///c", None),
            ("mei:s3cret@db/c", None),
            ("mysql://mei:s3cret@db/c#x", None),
            ("", None),
        ] {
            let found = read_database(text);
            if let Err(fault) = &found {
                assert!(fault.is(Code::TeamDatabase) && !fault.to_string().contains("s3cret"), "{text}: {fault}");
            }
            let expected = expected.map(|(address, password)| WrittenDatabase {
                address: address.to_owned(),
                password: password.map(str::to_owned),
            });
            assert_eq!(found.ok(), expected, "{text}");
        }
    }

    #[test]
    fn a_password_goes_into_an_address_and_comes_out_as_it_was() {
        for password in ["simple", "s/e%c:r@t?#", "密 码", "%41"] {
            let whole = with_password("mysql://mei@db:3306/c?ssl-mode=REQUIRED", Some(password));
            let read = read_database(&whole).expect("an address");
            assert_eq!(
                (read.address.as_str(), read.password.as_deref()),
                ("mysql://mei@db:3306/c?ssl-mode=REQUIRED", Some(password)),
                "{whole}"
            );
        }
        assert_eq!(with_password("mysql://mei@db/c", None), "mysql://mei@db/c");
    }

    #[test]
    fn a_kept_password_goes_to_its_own_account_on_its_own_machine_alone() {
        let known = "mysql://mei@db/c";
        for (other, same) in [
            ("mysql://mei@db:3306/other?ssl-mode=REQUIRED", true),
            ("mysql://li@db/c", false),
            ("mysql://mei@evil/c", false),
            ("mysql://mei@db:3307/c", false),
            ("nonsense", false),
        ] {
            assert_eq!(is_same_account(known, other), same, "{other}");
        }
        assert!(!is_same_account("nonsense", "nonsense"));
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

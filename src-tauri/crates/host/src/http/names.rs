//! What a browser may call the node. Whoever comes by another name was led here by a page of some other site, whose name
//! points to this address, and is turned away. Pure.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

#[derive(Debug)]
pub(super) struct Names {
    /// `127.0.0.1:4000`, in small letters.
    names: Vec<String>,
    tls: bool,
}

impl Names {
    /// Of a node that listens there, and is known to others as `advertised`.
    pub fn new(listens: SocketAddr, advertised: Option<&str>, tls: bool) -> Names {
        let port = listens.port();
        let addresses = [listens.ip(), IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];
        let own = addresses.into_iter().filter(|ip| !ip.is_unspecified());
        let mut names: Vec<String> = own.map(|ip| SocketAddr::new(ip, port).to_string()).collect();
        names.push(format!("localhost:{port}"));
        names.extend(advertised.map(str::to_lowercase));
        // A browser leaves out the port that goes without saying.
        let silent = if tls { ":443" } else { ":80" };
        let short: Vec<String> = names.iter().filter_map(|name| name.strip_suffix(silent).map(str::to_owned)).collect();
        names.extend(short);
        names.sort();
        names.dedup();
        Names { names, tls }
    }

    /// By the header `Host`.
    pub fn admit(&self, host: &str) -> bool {
        let host = host.to_lowercase();
        self.names.contains(&host)
    }

    /// By the header `Origin`.
    pub fn admit_origin(&self, origin: &str) -> bool {
        let scheme = if self.tls { "https://" } else { "http://" };
        origin.strip_prefix(scheme).is_some_and(|host| self.admit(host))
    }

    /// Where pages may open WebSockets to. A policy has no way to name an IPv6 address; whoever came by one has `'self'`.
    pub fn sockets(&self) -> String {
        let scheme = if self.tls { "wss://" } else { "ws://" };
        let named = self.names.iter().filter(|name| !name.starts_with('['));
        named.map(|name| format!("{scheme}{name}")).collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(listens: &str, advertised: Option<&str>, tls: bool, admitted: &[&str], refused: &[&str]) {
        let names = Names::new(listens.parse().expect("an address"), advertised, tls);
        let (scheme, other) = if tls { ("https", "http") } else { ("http", "https") };
        for (hosts, may) in [(admitted, true), (refused, false)] {
            for host in hosts {
                assert_eq!(names.admit(host), may, "{host} at {listens}");
                assert_eq!(names.admit_origin(&format!("{scheme}://{host}")), may, "from {host} at {listens}");
                assert!(!names.admit_origin(&format!("{other}://{host}")), "{other} from {host} at {listens}");
            }
        }
    }

    #[test]
    fn a_node_is_called_by_its_addresses_and_by_what_it_advertises() {
        let here = ["127.0.0.1:4600", "localhost:4600", "[::1]:4600", "LOCALHOST:4600"];
        let others = ["127.0.0.1", "127.0.0.1:4601", "evil.example:4600", "evil.example", "", "10.0.0.5:4600"];
        check("127.0.0.1:4600", None, false, &here, &others);
        check("10.0.0.5:4600", None, true, &["10.0.0.5:4600", "localhost:4600"], &["0.0.0.0:4600", "10.0.0.6:4600"]);
        let advertised = Some("Node-A.example:4600");
        check("0.0.0.0:4600", advertised, true, &["node-a.example:4600", "127.0.0.1:4600"], &["0.0.0.0:4600"]);
        check("[2001:db8::1]:4600", None, true, &["[2001:db8::1]:4600"], &["[2001:db8::2]:4600"]);
    }

    #[test]
    fn a_port_that_goes_without_saying_may_be_left_out() {
        check("10.0.0.5:8443", Some("a.example:443"), true, &["a.example", "a.example:443"], &["a.example:8443"]);
        check("127.0.0.1:80", None, false, &["127.0.0.1"], &["a.example"]);
        check("127.0.0.1:443", None, false, &["127.0.0.1:443"], &["127.0.0.1"]);
    }

    #[test]
    fn pages_open_sockets_to_the_names_alone() {
        let names = Names::new("127.0.0.1:4600".parse().expect("an address"), Some("a.example:1"), true);
        assert_eq!(names.sockets(), "wss://127.0.0.1:4600 wss://a.example:1 wss://localhost:4600");
    }
}

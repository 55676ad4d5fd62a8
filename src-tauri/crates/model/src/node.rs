//! A node of a team, as it is written down for the others and for people.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::Timestamp;

/// One running engine, as it last said of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct NodeEntry {
    /// Of one life: its name and what is drawn when it starts. The holder of its leases.
    pub node: String,
    /// What people call it.
    pub name: String,
    /// Where executors reach it, host:port; empty: they do not.
    pub executors_at: String,
    /// Where its API is reached; none: it says nothing of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api: Option<NodeApi>,
    /// By which it is known as the keeper of logs, through all its lives.
    #[serde(default)]
    pub keeper: String,
    pub version: String,
    /// How far its machine's clock is from the database's, which it goes by.
    pub offset_ms: i64,
    /// So many of the launch partitions are with it.
    pub partitions: u32,
    pub since: Timestamp,
    pub seen_at: Timestamp,
}

/// The way to a node's API, for consoles and for other nodes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct NodeApi {
    /// host:port.
    pub address: String,
    /// SHA-256 of the certificate that it shows, in hex; whoever comes trusts exactly that one. None: plain HTTP, on its
    /// own machine alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
    /// What its machine calls itself.
    #[serde(default)]
    pub machine: String,
}

impl NodeApi {
    /// Whether the address leads there from that machine: a loopback address leads to whoever asks.
    pub fn leads_there_from(&self, machine: &str) -> bool {
        !self.is_loopback() || self.machine == machine
    }

    /// Whether a secret may go there: to another machine by TLS alone.
    pub fn is_private(&self) -> bool {
        self.fingerprint.is_some() || self.is_loopback()
    }

    fn is_loopback(&self) -> bool {
        let host = self.address.rsplit_once(':').map_or(self.address.as_str(), |(host, _)| host);
        let host = host.trim_matches(['[', ']']);
        host == "localhost" || host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loopback_address_leads_to_a_node_from_its_own_machine_alone() {
        for (address, from, leads) in [
            ("127.0.0.1:4600", "a", true),
            ("127.0.0.1:4600", "b", false),
            ("[::1]:4600", "b", false),
            ("localhost:4600", "b", false),
            ("10.0.0.5:4600", "b", true),
            ("node-a.example:4600", "b", true),
        ] {
            let api = NodeApi { address: address.to_owned(), fingerprint: None, machine: "a".to_owned() };
            assert_eq!(api.leads_there_from(from), leads, "{address} from {from}");
            let loopback = !api.leads_there_from("somewhere else");
            assert_eq!(api.is_private(), loopback, "{address}");
            assert!(NodeApi { fingerprint: Some("ab".to_owned()), ..api }.is_private(), "{address}");
        }
    }

    #[test]
    fn a_row_of_an_older_node_is_read_without_an_api() {
        let row = r#"{"node": "a", "name": "a", "executorsAt": "", "consoleAt": "", "version": "0.1.0", "offsetMs": 0,
            "partitions": 0, "since": 0, "seenAt": 0}"#;
        assert_eq!(serde_json::from_str::<NodeEntry>(row).expect("it reads").api, None);
    }
}

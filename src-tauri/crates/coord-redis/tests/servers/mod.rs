//! Real servers of Redis in folders of their own, on free ports; they end with the value that started them.

#![allow(dead_code, reason = "each file of tests that starts servers uses some of it")]

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};

pub fn installed() -> bool {
    let there = |name| Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok();
    let both = there("redis-server") && there("redis-cli");
    if !both {
        eprintln!("not run: redis-server is not installed");
    }
    both
}

/// Left where a test that needs a server did run.
pub fn receipt(name: &str) {
    fs::write(Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("ran-{name}")), "ran\n")
        .expect("a folder to write to");
}

pub struct Server {
    child: Child,
    pub port: u16,
    home: tempfile::TempDir,
    arguments: Vec<String>,
    ready: &'static str,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Server {
    pub fn start(arguments: &[&str]) -> Server {
        let home = tempfile::tempdir().expect("a folder");
        Server::start_as(free_port(), home, arguments, "Ready to accept connections")
    }

    /// A sentinel that watches the master at `port` as `town`.
    pub fn sentinel(port: u16) -> Server {
        let home = tempfile::tempdir().expect("a folder");
        let config = home.path().join("sentinel.conf");
        let watch = format!("sentinel monitor town 127.0.0.1 {port} 2\nsentinel down-after-milliseconds town 1000\n");
        fs::write(&config, watch + "sentinel failover-timeout town 3000\n").expect("written");
        let config = config.display().to_string();
        Server::start_as(free_port(), home, &[&config, "--sentinel"], "monitor master town")
    }

    fn start_as(port: u16, home: tempfile::TempDir, arguments: &[&str], ready: &'static str) -> Server {
        let arguments = arguments.iter().map(|argument| (*argument).to_owned()).collect::<Vec<_>>();
        let child = spawn(port, home.path(), &arguments, ready);
        Server { child, port, home, arguments, ready }
    }

    /// Starts it anew where it was, with nothing of what it knew.
    pub fn restart(&mut self) {
        self.kill();
        self.child = spawn(self.port, self.home.path(), &self.arguments, self.ready);
    }

    /// As it would say of itself after having run for years.
    pub fn has_remembered_for_long(&self) {
        assert_eq!(self.cli(&["SET", "campanile:1:lock-memory", "1"]), "OK");
    }

    /// Freezes it: it takes connections still, and answers nothing.
    pub fn freeze(&self) {
        self.signal("-STOP");
    }

    pub fn thaw(&self) {
        self.signal("-CONT");
    }

    fn signal(&self, signal: &str) {
        let sent = Command::new("kill").args([signal, &self.child.id().to_string()]).status();
        assert!(sent.expect("kill can be run").success(), "it is gone");
    }

    pub fn kill(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Becomes a replica of the one at `port`, and stays it.
    pub fn follows(&self, port: u16) {
        assert_eq!(self.cli(&["REPLICAOF", "127.0.0.1", &port.to_string()]), "OK");
        assert_eq!(self.cli(&["CONFIG", "REWRITE"]), "OK");
    }

    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    pub fn cli(&self, arguments: &[&str]) -> String {
        let output = Command::new("redis-cli").args(["-p", &self.port.to_string()]).args(arguments).output();
        String::from_utf8_lossy(&output.expect("redis-cli runs").stdout).trim().to_owned()
    }
}

fn spawn(port: u16, home: &Path, arguments: &[String], ready: &str) -> Child {
    // A file of configuration comes first; what stands after it counts more. A server keeps in its own what a sentinel
    // tells it of its part, so that it has the same one when it starts anew.
    let is_sentinel = arguments.iter().any(|argument| argument == "--sentinel");
    let own = home.join("redis.conf");
    if !is_sentinel && !own.exists() {
        fs::write(&own, "").expect("written");
    }
    let mut child = Command::new("redis-server")
        .args((!is_sentinel).then_some(&own))
        .args(arguments)
        .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--dir", &home.display().to_string()])
        .args(if is_sentinel { &[][..] } else { &["--save", "", "--appendonly", "no"][..] })
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("redis-server starts");
    let mut said = BufReader::new(child.stdout.take().expect("piped"));
    let mut log = String::new();
    while !log.contains(ready) {
        assert!(said.read_line(&mut log).expect("readable") > 0, "the server ended: {log}");
    }
    // Whoever does not read on makes the server wait.
    std::thread::spawn(move || std::io::copy(&mut said, &mut std::io::sink()));
    child
}

/// Three nodes that are one cluster.
pub fn cluster() -> Vec<Server> {
    let nodes: Vec<Server> =
        (0..3).map(|_| Server::start(&["--cluster-enabled", "yes", "--cluster-node-timeout", "2000"])).collect();
    let addresses: Vec<String> = nodes.iter().map(|node| format!("127.0.0.1:{}", node.port)).collect();
    let made = Command::new("redis-cli").args(["--cluster", "create"]).args(&addresses).arg("--cluster-yes").output();
    let said = String::from_utf8_lossy(&made.expect("redis-cli runs").stdout).into_owned();
    assert!(said.contains("All 16384 slots covered"), "{said}");
    nodes
}

/// A master and its replica, watched by three sentinels that know of each other.
pub fn watched() -> (Server, Server, Vec<Server>) {
    let (master, replica) = (Server::start(&[]), Server::start(&[]));
    replica.follows(master.port);
    let sentinels: Vec<Server> = (0..3).map(|_| Server::sentinel(master.port)).collect();
    // They must know of the replica and of each other before the master goes.
    let known = |what: &str, many: usize| {
        sentinels.iter().all(|sentinel| sentinel.cli(&["SENTINEL", what, "town"]).matches("runid").count() >= many)
    };
    while !(known("replicas", 1) && known("sentinels", 2)) {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    (master, replica, sentinels)
}

/// One whose bus port (10,000 higher) is a port as well.
fn free_port() -> u16 {
    loop {
        let port = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a free port").port();
        if let Some(bus) = port.checked_add(10_000)
            && TcpListener::bind(("127.0.0.1", bus)).is_ok()
        {
            return port;
        }
    }
}

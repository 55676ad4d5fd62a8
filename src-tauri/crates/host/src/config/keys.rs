//! Every key that there is: what it is for, what it may be, and what holds where nobody sets it.

use campanile_model::Words;

/// What a value has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Text,
    Path,
    Flag,
    /// A whole number within these bounds.
    Number(u64, u64),
    /// An address to listen on.
    Address,
    /// An address to listen on, with its port.
    Listen,
    /// Where others reach it: host:port.
    HostPort,
    /// Never shown. Given by the name of an environment variable or of a file, or written out in a file that is its
    /// owner's alone.
    Secret,
}

#[derive(Debug)]
pub struct Key {
    pub name: &'static str,
    pub kind: Kind,
    /// As it would be written; empty: there is none.
    pub default: &'static str,
    en: &'static str,
    zh: &'static str,
}

impl Key {
    pub fn words(&self) -> Words {
        Words::new(self.en, self.zh)
    }

    /// The environment variable that sets it.
    pub fn variable(&self) -> String {
        format!("CAMPANILE_{}", self.name.replace('.', "_").to_uppercase())
    }
}

const fn key(name: &'static str, kind: Kind, default: &'static str, en: &'static str, zh: &'static str) -> Key {
    Key { name, kind, default, en, zh }
}

/// In the order in which they are shown.
pub const KEYS: &[Key] = &[
    key("data", Kind::Path, "", "the data folder; the user's own where absent", "数据目录；默认为当前用户的目录"),
    key(
        "node.name",
        Kind::Text,
        "",
        "what people call this node; the machine's name where absent",
        "节点名称；默认为主机名",
    ),
    key(
        "http.port",
        Kind::Number(0, 65_535),
        "0",
        "port of the console; 0 is any that is free",
        "控制台的端口；0 表示任选空闲端口",
    ),
    key(
        "http.listen",
        Kind::Address,
        "127.0.0.1",
        "address of the console; on any but this machine's own it takes TLS",
        "控制台的监听地址；非本机回环地址时一律使用 TLS",
    ),
    key(
        "http.advertise",
        Kind::HostPort,
        "",
        "where consoles and other nodes find this node",
        "控制台及其他节点访问本节点的地址",
    ),
    key(
        "http.certificate",
        Kind::Path,
        "",
        "certificate of the console, PEM; without it the node makes one for itself",
        "控制台的证书（PEM）；未设置则由节点自行生成",
    ),
    key("http.key", Kind::Path, "", "key of the console's certificate, PEM", "控制台证书的私钥（PEM）"),
    key(
        "executors.listen",
        Kind::Listen,
        "",
        "address on which executors join; without it none can",
        "执行器接入的监听地址；未设置则不接受",
    ),
    key("executors.advertise", Kind::HostPort, "", "where executors find this node", "执行器访问本节点的地址"),
    key(
        "executors.certificate",
        Kind::Path,
        "",
        "certificate for executors' connections, PEM",
        "执行器连接所用的证书（PEM）",
    ),
    key("executors.key", Kind::Path, "", "key of the certificate, PEM", "证书的私钥（PEM）"),
    key(
        "executors.client_ca",
        Kind::Path,
        "",
        "executors must show a certificate of this authority, PEM",
        "要求执行器出示由该 CA 签发的证书（PEM）",
    ),
    key(
        "executors.without_tls",
        Kind::Flag,
        "false",
        "let executors of other machines join without TLS",
        "允许其他机器的执行器不经 TLS 接入",
    ),
    key(
        "embedded.enabled",
        Kind::Flag,
        "",
        "host an executor of group local here; in a team not unless it is said",
        "在本节点内运行 local 组的执行器；团队模式下默认关闭",
    ),
    key(
        "embedded.allow_shell",
        Kind::Flag,
        "false",
        "let jobs run shell commands on this machine",
        "允许任务在本机运行 shell 命令",
    ),
    key(
        "embedded.capacity",
        Kind::Number(1, 10_000),
        "",
        "tasks that run here at once; twice the cores where absent",
        "本机同时运行的作业数；默认为核数的两倍",
    ),
    key(
        "database.url",
        Kind::Secret,
        "",
        "mysql://user:password@host:port/database of the team; without it the folder keeps a database of its own",
        "团队数据库 mysql://用户:密码@主机:端口/库名；未设置则使用数据目录中的数据库",
    ),
    key("database.connections", Kind::Number(4, 500), "16", "connections to the database at most", "数据库连接数上限"),
    key(
        "redis.url",
        Kind::Secret,
        "",
        "redis:// or rediss:// address where the team's nodes meet; several, with spaces between: a Cluster, or Sentinels",
        "团队节点会合的 redis:// 或 rediss:// 地址；多个以空格分隔：Cluster 或 Sentinel",
    ),
    key(
        "redis.locks",
        Kind::Secret,
        "",
        "addresses of three or five Redis servers that share nothing: a lock is held where most of them say so",
        "三个或五个互不相关的 Redis 地址：多数同意时才持有锁",
    ),
    key("redis.master", Kind::Text, "", "name of the master that the Sentinels watch", "Sentinel 监视的主节点名称"),
];

pub fn key_of(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}
